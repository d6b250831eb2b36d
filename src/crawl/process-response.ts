import type { Clock } from '../core/clock.ts';
import { stringifyExact } from '../core/exact-json.ts';
import { headerText, type ResponseHeaders } from '../core/headers.ts';
import { decodeBody, InvalidJsonError, readJsonBody } from '../http/bodies.ts';
import type { Recorder } from '../report/recorder.ts';
import type { FollowUp, Route, SentRequest } from '../routes/define-route.ts';
import { DEFAULT_DATASET, runRoute } from '../routes/run-route.ts';
import { codeOfStatus, RequestFailure } from './failure-codes.ts';
import { INVALID_DATASET, type InvalidRow } from './failure-record.ts';
import type { Job } from './job.ts';
import type { CrawlSettings } from './parts.ts';
import type { Reply } from './transport.ts';

/** A response whose body was read. */
export type ParsedReply = Reply & { body: unknown; text: string };

/**
 * Refuses a response by its status.
 * @param facts.rotations how often the request was sent as somebody else before
 * @throws RequestFailure with code HTTP_<status>
 */
export function requireSuccess(reply: Reply, facts: { isError: (status: number) => boolean; rotations: number }): void {
  const { status } = reply.response;
  if (!facts.isError(status)) return;
  const toAll = facts.rotations === 0 ? '' : `, to each of the ${facts.rotations + 1} sessions that asked`;
  throw new RequestFailure(codeOfStatus(status), `${reply.url} answered ${status}${toAll}`);
}

/**
 * Parses the body, once. An empty one is null, unless it answers a GET, which asks for something.
 * @throws InvalidJsonError with an excerpt
 */
export function parseReply(reply: Reply, method: string): ParsedReply {
  const { response } = reply;
  if (response.body.length === 0 && method !== 'GET') return { ...reply, text: '', body: null };
  const facts = { status: response.status, url: reply.url };
  const { text, value } = readJsonBody(response.body, response.headers, facts);
  return { ...reply, text, body: value };
}

/**
 * The same for a handler of the user's, which has the body's text, too: one that is empty, or of a type it wants
 * though it is no JSON, is null.
 * @throws InvalidJsonError with an excerpt
 */
export function parseForHandler(
  reply: Reply,
  { method, takesType }: { method: string; takesType: (type: string) => boolean },
): ParsedReply {
  const { body, headers } = reply.response;
  if (body.length === 0) return { ...reply, text: '', body: null };
  try {
    return parseReply(reply, method);
  } catch (error) {
    if (!(error instanceof InvalidJsonError) || !takesType(mediaTypeOf(headers))) throw error;
    return { ...reply, text: decodeBody(body, headers), body: null };
  }
}

/** @returns the media type of Content-Type, lower case, without parameters */
export function mediaTypeOf(headers: ResponseHeaders): string {
  const type = headerText(headers, 'content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  return type || 'application/octet-stream';
}

/**
 * Runs a route on a response and writes the records it found.
 * @returns the requests that follow
 */
export function applyRoute(
  route: Route,
  facts: { job: Job; reply: ParsedReply; request: SentRequest; settings: CrawlSettings },
): readonly FollowUp[] {
  const { job, reply, settings } = facts;
  const page = {
    url: reply.url,
    status: reply.response.status,
    headers: reply.response.headers,
    body: reply.body,
    userData: job.data.userData ?? {},
    request: facts.request,
  };
  const result = runRoute(route, page);
  for (const { dataset, record } of result.records) {
    job.work.addRecord(dataset === DEFAULT_DATASET ? settings.defaultDataset : dataset, record);
  }
  for (const { issues, record, isBody } of result.invalid) {
    const { url, loadedUrl = url } = job.request;
    const row = { url, label: route.label, ...(isBody ? { loadedUrl } : {}), issues, record } satisfies InvalidRow;
    job.work.addRecord(INVALID_DATASET, row);
  }
  for (const { key, value } of result.values) job.work.setValue(key, stringifyExact(value));
  return result.requests;
}

/** Runs an action and adds its time to a phase of the host. */
export function timed<T>(
  facts: { clock: Clock; recorder: Recorder; host: string; phase: 'parse' | 'handler' },
  action: () => T,
): T {
  const startedMs = facts.clock.nowMs();
  try {
    return action();
  } finally {
    facts.recorder.time(facts.host, facts.phase, facts.clock.nowMs() - startedMs);
  }
}
