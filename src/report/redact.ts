import { isHarmlessHeader, isSecretName } from '../core/secret-names.ts';

export { isSecretName };

const HIDDEN = '[redacted]';

/**
 * Hides user, password and secret query parameters of a URL; anything else is returned as it came.
 * @param url absolute or not
 */
export function redactUrl(url: string): string {
  const withoutUser = url.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@]*@/i, `$1${HIDDEN}@`);
  return withoutUser.replaceAll(/([?&;])([^=&;#]+)=([^&;#]*)/g, (whole, mark: string, name: string) =>
    isSecretName(decoded(name)) ? `${mark}${name}=${HIDDEN}` : whole,
  );
}

/**
 * A copy of a configuration in which values of secret names, all header values but harmless ones, and secrets
 * in URLs are hidden. References such as `${env:NAME}` stay: they tell where the secret is from, not what it is.
 */
export function redactConfig(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => redactConfig(item, name));
  if (typeof value === 'object' && value !== null) return redactObject(value, name);
  if (value === null || value === undefined || typeof value === 'boolean') return value;
  if (isReference(value)) return value;
  if (isSecretName(name)) return HIDDEN;
  return typeof value === 'string' ? redactUrl(value) : value;
}

function redactObject(value: object, name: string): Record<string, unknown> {
  const inHeaders = /headers$/i.test(name);
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (inHeaders && typeof item === 'string' && !isHarmlessHeader(key) && !isReference(item)) return [key, HIDDEN];
      return [key, redactConfig(item, key)];
    }),
  );
}

function isReference(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{[a-z]+:[^}]*\}$/.test(value);
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
