import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import { conditionalHeaders, freshenedHeaders, type Validators, validatorsOf } from '../api/conditional.ts';
import type { ResponseHeaders } from '../core/headers.ts';
import { MIB } from '../core/units.ts';
import type { HttpRequest, HttpResponse } from '../http/client.ts';
import type { NewRequest, ValueStore } from '../storage/store.ts';
import type { PendingWork } from './pending-work.ts';

/** A response as it is kept in a run's values; `body` is gzip, base64. */
type StoredResponse = Validators & { headers: ResponseHeaders; body: string };

/** An earlier response that a request may be asked to confirm. */
export type KeptResponse = Validators & { headers: ResponseHeaders; body: Buffer };

const PREFIX = 'kept/';
const LARGEST_BODY_BYTES = MIB;
const NOT_MODIFIED = 304;

const pack = promisify(gzip);
const unpack = promisify(gunzip);

/**
 * What --refresh asks by: responses with validators, of the finished run before. Those of this run are kept with its
 * records, for the next one.
 */
export class KeptResponses {
  readonly #earlier: Pick<ValueStore, 'get'> | null;

  /** @param earlier values of the finished run before; null = there is none */
  constructor(earlier: Pick<ValueStore, 'get'> | null) {
    this.#earlier = earlier;
  }

  /** @returns what the request had as its answer; null when nothing was kept */
  async find(request: NewRequest): Promise<KeptResponse | null> {
    if (this.#earlier === null || request.method !== 'GET') return null;
    const stored = await this.#earlier.get<StoredResponse>(keyOf(request));
    return stored === null ? null : { ...stored, body: await unpack(Buffer.from(stored.body, 'base64')) };
  }

  /** Keeps a response with the work of its request, if it can be asked for again and is not too large. */
  async keep(request: NewRequest, { status, headers, body }: HttpResponse, work: PendingWork): Promise<void> {
    const validators = request.method === 'GET' ? validatorsOf(status, headers) : null;
    if (validators === null || body.length > LARGEST_BODY_BYTES) return;
    const { 'set-cookie': _cookies, ...kept } = headers;
    const packed = await pack(body);
    const stored: StoredResponse = { ...validators, headers: kept, body: packed.toString('base64') };
    work.setValue(keyOf(request), JSON.stringify(stored));
  }
}

/** @returns the request with its conditions; null when it brings its own: a 304 is then the answer */
export function withConditions(request: HttpRequest, kept: KeptResponse): HttpRequest | null {
  const conditions = conditionalHeaders(kept, request.headers);
  if (Object.keys(conditions).length === 0) return null;
  return { ...request, headers: { ...request.headers, ...conditions } };
}

/** @returns what was kept, in place of a 304; any other response as it came */
export function revived(response: HttpResponse, kept: KeptResponse): HttpResponse {
  if (response.status !== NOT_MODIFIED) return response;
  return { ...response, status: 200, headers: freshenedHeaders(kept.headers, response.headers), body: kept.body };
}

// The URL besides the key: the key of a page of an api is its place, and what is asked for there may be another thing.
function keyOf({ uniqueKey, url }: NewRequest): string {
  return `${PREFIX}${createHash('sha1').update(`${uniqueKey}\n${url}`).digest('base64url')}`;
}
