const SECRET_NAME =
  /(^|[^a-z])(api[-_]?key|access[-_]?key|subscription[-_]?key|app[-_]?key|key|token|[a-z]+[-_]?token|secret|[a-z]+[-_]?secret|pass(word|wd|phrase)?|pwd|auth|authorization|credentials?|cookie|set-cookie|signature|sig|session([-_]?id)?|jwt|bearer)$/i;
const HIDDEN = '[redacted]';

/** @returns whether a header, query parameter or setting of this name usually carries a secret */
export function isSecretName(name: string): boolean {
  // camelCase is read as words: accessToken as access-token.
  return SECRET_NAME.test(name.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2'));
}

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
      if (inHeaders && typeof item === 'string' && !HARMLESS_HEADERS.has(key.toLowerCase()) && !isReference(item))
        return [key, HIDDEN];
      return [key, redactConfig(item, key)];
    }),
  );
}

const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-language',
  'accept-encoding',
  'content-type',
  'user-agent',
  'cache-control',
  'referer',
  'origin',
]);

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
