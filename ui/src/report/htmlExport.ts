import type { Heatmap, JobDetail, JobSeries, Percentiles, ServerSettings } from '../api/types';

/** Contents of an exported report: the same documents as those that the server returns for a job. */
export interface HtmlExport {
  made_at: string;
  command_line: string;
  detail: JobDetail;
  series: JobSeries | null;
  percentiles: Percentiles | null;
  heatmap: Heatmap | null;
  server: ServerSettings | null;
}
