import { Histogram } from '../../core/histogram.ts';
import type { HttpResponse } from '../../http/client.ts';
import { increment } from '../../report/host-record.ts';
import { roundMs } from '../common/numbers.ts';
import { wireBytesOf } from '../common/send.ts';
import type { Percentiles } from './bench-report.ts';

/** What became of the requests of one load. Times in ms. */
export class Tally {
  /** From the moment it was due, and from the moment it was sent. */
  readonly latency = new Histogram();
  readonly service = new Histogram();
  readonly statuses = new Map<number, number>();
  readonly failures = new Map<string, number>();
  bodyBytes = 0;
  /** Of bodies, as they travelled. */
  wireBytes = 0;
  answers = 0;
  http2Answers = 0;

  answered(response: HttpResponse, times: { latencyMs: number; serviceMs: number }): void {
    this.answers += 1;
    if (response.httpVersion === '2') this.http2Answers += 1;
    this.bodyBytes += response.body.length;
    this.wireBytes += wireBytesOf(response);
    increment(this.statuses, response.status);
    this.latency.record(times.latencyMs);
    this.service.record(times.serviceMs);
  }

  failed(code: string): void {
    increment(this.failures, code);
  }

  /** Adds another one's figures. */
  merge(other: Tally): void {
    this.answers += other.answers;
    this.http2Answers += other.http2Answers;
    this.bodyBytes += other.bodyBytes;
    this.wireBytes += other.wireBytes;
    for (const [status, count] of other.statuses) increment(this.statuses, status, count);
    for (const [code, count] of other.failures) increment(this.failures, code, count);
    this.latency.merge(other.latency);
    this.service.merge(other.service);
  }

  get httpVersion(): string | null {
    if (this.answers === 0) return null;
    return this.http2Answers * 2 >= this.answers ? '2' : '1.1';
  }
}

export function percentilesOf(histogram: Histogram): Percentiles {
  const at = (share: number): number | null => roundMs(histogram.percentile(share));
  return {
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    p999: at(0.999),
    mean: roundMs(histogram.mean),
    max: roundMs(histogram.max),
  };
}
