/** The run of whoever names none. */
export const DEFAULT_RUN = 'default';

/** A run as a command names it. */
export type NamedRun = {
  run: string;
  /** As in RunPlace. */
  typedPlace?: string | undefined;
};

/** @returns `millrace WORD` with the options that name the run, to be typed where the run's own command was */
export function runCommand(word: string, { run, typedPlace = '' }: NamedRun): string {
  return `millrace ${word} --run ${run}${typedPlace}`;
}

/** @returns advice whose `retry-failed` is the whole command, where that alone would be of another run */
export function adviceFor(named: NamedRun, advice: string): string {
  if (named.run === DEFAULT_RUN && !named.typedPlace) return advice;
  return advice.replaceAll('retry-failed', () => `\`${runCommand('retry-failed', named)}\``);
}

/** @returns text as one word of a shell command */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
