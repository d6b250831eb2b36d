import { HttpError } from './http-error.ts';

/** @returns the error of a body that grew beyond its bound, counted after decompression */
export function tooLarge(host: string, maxBodyBytes: number): HttpError {
  return new HttpError({
    code: 'TOO_LARGE',
    message: `${host}: the body is larger than ${maxBodyBytes} bytes (maxBodyBytes, after decompression)`,
    wasSent: true,
  });
}
