import type { Summary } from '../core/summary.ts';
import type { QueueCounts } from '../storage/store.ts';

/** @returns the status message of a run under way */
export function progressText({ total, succeeded, failed, skipped }: QueueCounts): string {
  const done = succeeded + failed + skipped;
  return `${number(done)} of ${number(total)} requests done${failedText(failed)}`;
}

/**
 * @param recordCount over all containers of the run
 * @returns the last status message of a run: what is there, what is not, and why
 */
export function endText({ requests, failures, state }: Summary, recordCount: number): string {
  const [worst] = failures;
  const why = worst === undefined ? '' : `, most often ${worst.code} at ${worst.host}`;
  const parts = [
    `${number(requests.succeeded)} of ${number(requests.total)} requests succeeded`,
    ...(requests.failed > 0 ? [`${number(requests.failed)} failed${why}`] : []),
    ...(requests.skipped > 0 ? [`${number(requests.skipped)} were skipped`] : []),
    ...(requests.pending > 0 ? [`${number(requests.pending)} are left`] : []),
    `${number(recordCount)} records`,
  ];
  return `${state === 'finished' ? 'Finished' : 'Ended'}: ${parts.join(', ')}.`;
}

function failedText(failed: number): string {
  return failed === 0 ? '' : `, ${number(failed)} failed`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
