import { redactUrl } from './redact.ts';

const MOST_GROUPS = 500;
const LONGEST_EXAMPLE = 500;
/** Stands for all hosts beyond those kept apart. */
export const OTHER_HOSTS = '(other hosts)';

/** Failed requests of one code and host, with one of them as example; `message` is what was said of that one. */
export type FailureGroup = { code: string; host: string; count: number; example: string; message?: string };

type Failure = { code: string; host: string; url: string; message?: string };

/** Failures counted by code and host; beyond 500 groups by code alone. */
export class FailureGroups {
  readonly #groups = new Map<string, FailureGroup>();

  /** @param failure.url kept as the example when it is the first of its group */
  add(failure: Failure, by = 1): void {
    const found = this.#groups.get(keyOf(failure));
    if (found !== undefined) found.count += by;
    else if (this.#groups.size < MOST_GROUPS || failure.host === OTHER_HOSTS) this.#start(failure, by);
    else this.add({ ...failure, host: OTHER_HOSTS }, by);
  }

  /** Most frequent first. */
  list(): FailureGroup[] {
    return [...this.#groups.values()].sort((a, b) => b.count - a.count || (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  static fromState(groups: readonly FailureGroup[]): FailureGroups {
    const restored = new FailureGroups();
    for (const { example, count, ...group } of groups) restored.add({ ...group, url: example }, count);
    return restored;
  }

  #start({ code, host, url, message }: Failure, count: number): void {
    const example = redactUrl(url).slice(0, LONGEST_EXAMPLE);
    const said = message === undefined ? {} : { message: message.slice(0, LONGEST_EXAMPLE) };
    this.#groups.set(keyOf({ code, host }), { code, host, count, example, ...said });
  }
}

function keyOf({ code, host }: { code: string; host: string }): string {
  return `${code}\n${host}`;
}
