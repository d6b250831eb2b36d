/**
 * `${env:NAME}` and `${file:PATH}`: secrets stand in the configuration, in stored requests and in messages as these
 * references, and are put in when a request is sent.
 */

/** Where secrets come from. Both throw nothing: undefined = not there. */
export type SecretSource = {
  env(name: string): string | undefined;
  /** @returns the file's text, one newline at its end dropped. */
  file(path: string): string | undefined;
};

export type Reference = { text: string; kind: 'env' | 'file'; name: string };

const REFERENCE = /\$\{(env|file):([^{}]+)\}/g;
// As the WHATWG URL parser leaves a reference in a path, where braces are escaped.
const ESCAPED_REFERENCE = /\$(?:\{|%7B)(env|file):((?:[^{}%]|%(?!7D))+)(?:\}|%7D)/gi;

/** @returns the references in a text, in order. */
export function referencesIn(text: string): Reference[] {
  return [...text.matchAll(REFERENCE)].map(([whole, kind, name]) => ({
    text: whole,
    kind: kind as Reference['kind'],
    name: name!,
  }));
}

/** A reference whose variable or file is not there. */
export class MissingSecretError extends Error {
  override readonly name = 'MissingSecretError';
  readonly reference: Reference;
  constructor(reference: Reference) {
    super(
      reference.kind === 'env'
        ? `${reference.text}: the environment variable ${reference.name} is not set`
        : `${reference.text}: the file ${reference.name} cannot be read`,
    );
    this.reference = reference;
  }
}

/** Knows the secrets of one API: puts them in, and takes them out again. */
export class SecretVault {
  readonly #source: SecretSource;
  readonly #known = new Map<string, string>();

  constructor(source: SecretSource) {
    this.#source = source;
  }

  /**
   * Puts the values in.
   * @throws MissingSecretError
   */
  reveal(text: string, encode: (value: string) => string = String): string {
    return text.replaceAll(REFERENCE, (whole, kind: string, name: string) => encode(this.#value(whole, kind, name)));
  }

  /** The same for what is no secret (the host of a base URL): it is not concealed afterwards. */
  revealOpenly(text: string): string {
    return text.replaceAll(REFERENCE, (whole, kind: string, name: string) => this.#lookUp(whole, kind, name));
  }

  /**
   * The same for a URL: values are percent-encoded but for slashes ("octocat/hello-world" in a path is meant as two
   * parts), references may be percent-encoded already.
   */
  revealUrl(url: string): string {
    if (!url.includes('$')) return url;
    return url.replaceAll(ESCAPED_REFERENCE, (whole, kind: string, name: string) =>
      encodeURIComponent(this.#value(whole, kind.toLowerCase(), decodeURIComponent(name))).replaceAll('%2F', '/'),
    );
  }

  /** The same for JSON text: values are escaped as the inside of a JSON string. */
  revealJson(json: string): string {
    return this.reveal(json, (value) => JSON.stringify(value).slice(1, -1));
  }

  /** Makes a secret known that came up while running (an access token), to be concealed as `label`. */
  remember(label: string, value: string): void {
    if (value !== '') this.#known.set(value, label);
  }

  /** Replaces every known secret, also percent-encoded, by its reference. */
  conceal(shown: string): string {
    let concealed = shown;
    for (const [value, label] of this.#known) {
      if (value.length < SHORTEST_SECRET) continue;
      const encoded = encodeURIComponent(value);
      for (const text of [value, encoded, encoded.replaceAll('%2F', '/')])
        concealed = concealed.replaceAll(text, label);
    }
    return concealed;
  }

  #value(text: string, kind: string, name: string): string {
    const value = this.#lookUp(text, kind, name);
    this.#known.set(value, `\${${kind}:${name}}`);
    return value;
  }

  #lookUp(text: string, kind: string, name: string): string {
    const value = kind === 'env' ? this.#source.env(name) : this.#source.file(name);
    if (value === undefined) throw new MissingSecretError({ text, kind: kind as Reference['kind'], name });
    return value;
  }
}

// A two-letter "secret" (a region, a page size by ${env:}) would be found in every word.
const SHORTEST_SECRET = 6;
