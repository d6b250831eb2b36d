// The process behind serveLimitedApart: tells its URL, then how much it has seen, or all of it, as it is asked.
import type { TokenBucketOptions } from '../fixtures/servers/token-bucket-server.ts';
import { serveLimited } from './shared-limit.ts';

const server = await serveLimited(JSON.parse(process.argv[2] ?? '{}') as TokenBucketOptions);
process.on('message', (question) => process.send?.(question === 'count' ? server.seen.length : server.seen));
process.on('disconnect', () => process.exit(0));
process.send?.(server.url);
