import type { Heatmap, JobDetail, JobSeries, Percentiles, ServerSettings } from '../api/types';

/** What the one-file report holds: the same documents as the server gives for a job. */
export interface HtmlExport {
  made_at: string;
  command_line: string;
  detail: JobDetail;
  series: JobSeries | null;
  percentiles: Percentiles | null;
  heatmap: Heatmap | null;
  server: ServerSettings | null;
}
