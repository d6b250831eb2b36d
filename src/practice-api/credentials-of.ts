import type { FastifyRequest } from 'fastify';

/** @returns user and password of HTTP basic authentication (RFC 7617); undefined when there is none */
export function basicOf(request: FastifyRequest): { username: string; password: string } | undefined {
  const encoded = /^Basic +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? undefined : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

/** @returns the token of an Authorization: Bearer header (RFC 6750) */
export function bearerOf(request: FastifyRequest): string | undefined {
  return /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
}

/** @returns the value of a cookie */
export function cookieOf(request: FastifyRequest, name: string): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(/; */);
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}
