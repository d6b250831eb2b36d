import type { BenchSettings, ProbeSettings, RampSettings } from './measure-schema.ts';

/** What `probe` is asked to do. Files are absolute paths. */
export type ProbeJob =
  | { kind: 'urls'; urls: readonly string[]; settings: ProbeSettings; saveTo: string | null; json: boolean }
  | { kind: 'compare'; files: readonly string[]; json: boolean }
  | { kind: 'setup'; storageDir: string; databaseUrl: string | null; json: boolean };

/** What `ramp` is asked to do. */
export type RampJob = { url: string; settings: RampSettings; isConfirmed: boolean; json: boolean };

/** Where a second setting of `bench` differs from the first. */
export type BenchVariant = Partial<Pick<BenchSettings, 'concurrency' | 'rate' | 'http2'>> & {
  httpClient?: 'undici' | 'got-scraping';
};

/** What `bench` is asked to do. */
export type BenchJob = { url: string; settings: BenchSettings; compare: BenchVariant | null; json: boolean };
