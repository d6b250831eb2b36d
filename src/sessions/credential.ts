import type { SessionPoolConfig } from '../config/host-schema.ts';
import { messageOf, UsageError } from '../core/errors.ts';
import { MINUTE_MS, SECOND_MS } from '../core/units.ts';
import { Health } from './health.ts';

type CredentialConfig = SessionPoolConfig['credentials'][number];

/** Puts values in for `${env:NAME}` and `${file:PATH}`. Throws when one is not there. */
export type Reveal = (text: string) => string;

const CREDENTIAL_REST = { firstRestMs: 30 * SECOND_MS, longestRestMs: 60 * MINUTE_MS };

/** One identity towards a host: shown by its name, its secret read when first needed and never stored. */
export class Credential {
  readonly name: string;
  readonly health = new Health(CREDENTIAL_REST);
  readonly #template: CredentialConfig['headers'];
  readonly #reveal: Reveal;
  #headers: Readonly<Record<string, string>> | null = null;

  constructor(config: CredentialConfig, reveal: Reveal) {
    this.name = config.name;
    this.#template = config.headers;
    this.#reveal = reveal;
  }

  /**
   * @returns the headers that carry it, names in lower case; the same object until `reread` finds others
   * @throws UsageError when a reference leads nowhere: nothing can be sent as this identity
   */
  headers(): Readonly<Record<string, string>> {
    this.#headers ??= this.#read();
    return this.#headers;
  }

  /**
   * Reads a refused secret again: a token in a file may have been renewed meanwhile.
   * @returns whether it has changed
   */
  reread(): boolean {
    if (this.#headers === null) return false;
    const before = JSON.stringify(this.#headers);
    this.#headers = this.#read();
    return JSON.stringify(this.#headers) !== before;
  }

  #read(): Readonly<Record<string, string>> {
    try {
      const pairs = Object.entries(this.#template).map(([name, text]) => [
        name.toLowerCase(),
        this.#reveal(text).trim(),
      ]);
      return Object.freeze(Object.fromEntries(pairs) as Record<string, string>);
    } catch (error) {
      throw new UsageError(`credential "${this.name}": ${messageOf(error)}`, { cause: error });
    }
  }
}

/** @throws UsageError when two have one name: limits and stored sessions go by it */
export function readCredentials(configs: readonly CredentialConfig[], reveal: Reveal): Credential[] {
  const names = configs.map((config) => config.name);
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) throw new UsageError(`sessionPool.credentials: two are named "${repeated}"`);
  return configs.map((config) => new Credential(config, reveal));
}
