import type { ResponseHeaders } from '../core/headers.ts';
import type { HttpRequest } from './client.ts';
import { HttpError } from './http-error.ts';

/** @returns the error of a body that grew beyond its bound, counted after decompression */
export function tooLarge(host: string, maxBodyBytes: number): HttpError {
  return new HttpError({
    code: 'TOO_LARGE',
    message: `${host}: the body is larger than ${maxBodyBytes} bytes (maxBodyBytes, after decompression)`,
    wasSent: true,
  });
}

/** @returns whether the headers of a plain body announce more than its bound; of HEAD they announce what is not sent */
export function announcesMore(headers: ResponseHeaders, { maxBodyBytes, method }: HttpRequest): boolean {
  return Number(headers['content-length']) > maxBodyBytes && method !== 'HEAD';
}
