import { headerText, type ResponseHeaders } from '../../core/headers.ts';

/** @returns where an answer comes from, as far as its headers tell: "FRA (Cloudflare)"; null when they do not */
export function targetRegion(headers: ResponseHeaders): string | null {
  const header = (name: string): string => headerText(headers, name) ?? '';
  const cloudflare = /-([A-Z]{3})$/.exec(header('cf-ray'))?.[1];
  if (cloudflare !== undefined) return `${cloudflare} (Cloudflare)`;
  const cloudfront = /^([A-Z]{3})\d/.exec(header('x-amz-cf-pop'))?.[1];
  if (cloudfront !== undefined) return `${cloudfront} (CloudFront)`;
  const fastly = /-([A-Z]{3})$/.exec(header('x-served-by'))?.[1];
  if (fastly !== undefined) return `${fastly} (Fastly)`;
  return header('fly-region') || header('x-region') || null;
}
