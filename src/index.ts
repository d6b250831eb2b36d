/** What a library user imports. Importing it starts and opens nothing. */
export { createJsonCrawler, type JsonCrawlerSettings, type RunCrawler } from './app/create-crawler.ts';
export type { HostEntry } from './config/host-schema.ts';
export type { InputDocument } from './config/input-schema.ts';
export type { Clock } from './core/clock.ts';
export { CrawlError, EnvironmentError, type Recovery, UsageError } from './core/errors.ts';
export type { CrawlEvent, EventSink } from './core/events.ts';
export type { Sample, Verdict } from './core/sample.ts';
export { type FailureCode, failureCodeOf, RequestFailure } from './crawl/failure-codes.ts';
export type { FailureRecord } from './crawl/failure-record.ts';
export type { JsonContext } from './crawl/json-context.ts';
export { JsonCrawler, type JsonCrawlerOptions } from './crawl/json-crawler.ts';
export { createJsonRouter } from './crawl/json-router.ts';
export { createGovernor, type GovernorOptions } from './governor/create-governor.ts';
export type { Governor, HostPolicy, KeyRequest, KeySnapshot } from './governor/governor.ts';
export {
  defineRoute,
  type Extracted,
  type FollowUp,
  type Page,
  type Route,
  type RouteDefinition,
} from './routes/define-route.ts';
export { exactNumber } from './routes/exact-number.ts';
export { SqliteStorageClient, type SqliteStorageClientOptions } from './storage/crawlee/sqlite-storage-client.ts';
export {
  PostgresStorageClient,
  type PostgresStorageClientOptions,
} from './storage/postgres/crawlee/postgres-storage-client.ts';
