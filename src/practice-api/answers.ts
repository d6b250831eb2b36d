import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorBody } from './types.ts';

/** An answer that is not a success; `code` is the API's own word for it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: string;
  readonly headers: Record<string, string>;
  constructor(facts: { status: number; code: string; message: string; headers?: Record<string, string> }) {
    super(facts.message);
    this.status = facts.status;
    this.code = facts.code;
    this.headers = facts.headers ?? {};
  }
}

/** @returns the JSON of an error answer */
export function errorBody(code: string, message: string): ErrorBody {
  return { error: { code, message } };
}

// Not in TypeScript's library yet.
const { rawJSON } = JSON as JSON & { rawJSON: (text: string) => unknown };

/** @returns JSON with every bigint as a bare number, all digits kept */
export function exactJson(value: unknown): string {
  return JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? rawJSON(String(inner)) : inner));
}

/**
 * Answers with JSON, its ETag and, where known, Last-Modified; with 304 and no body where the request's conditions
 * say that the client has it already (RFC 9110 section 13.2.2).
 */
export function sendJson(
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  value: unknown,
  lastModifiedMs?: number,
): FastifyReply {
  const body = exactJson(value);
  const etag = `"${createHash('sha1').update(body).digest('base64url')}"`;
  reply.header('etag', etag);
  if (lastModifiedMs !== undefined) reply.header('last-modified', new Date(lastModifiedMs).toUTCString());
  if (isNotModified(request, { etag, lastModifiedMs })) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(body);
}

type Validators = { etag: string; lastModifiedMs: number | undefined };

function isNotModified({ headers }: FastifyRequest, { etag, lastModifiedMs }: Validators): boolean {
  const known = headers['if-none-match'];
  if (known !== undefined) return known.trim() === '*' || known.split(',').some((tag) => isSameTag(tag, etag));
  const sinceMs = Date.parse(headers['if-modified-since'] ?? '');
  return lastModifiedMs !== undefined && lastModifiedMs <= sinceMs;
}

// Weak comparison: a proxy may have weakened the tag.
function isSameTag(tag: string, etag: string): boolean {
  return tag.trim().replace(/^W\//, '') === etag;
}
