import type { Heatmap, JobDetail, JobSamples, JobSeries, Percentiles, ServerSettings } from '../api/types';

/** Contents of an exported report: the same documents as those that the server returns for a job. */
export interface HtmlExport {
  made_at: string;
  detail: JobDetail;
  series: JobSeries | null;
  /** What the chart of active sessions shows. */
  samples: JobSamples | null;
  percentiles: Percentiles | null;
  heatmap: Heatmap | null;
  server: ServerSettings | null;
}
