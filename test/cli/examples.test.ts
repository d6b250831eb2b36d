import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../src/cli/arguments.ts';
import { commandHelp, commandNamed } from '../../src/cli/commands.ts';
import { EXAMPLES } from '../../src/cli/examples.ts';
import { COMMAND_SUMMARIES, type CommandName } from '../../src/cli/options.ts';

const names = Object.keys(COMMAND_SUMMARIES) as CommandName[];

describe.each(names)('millrace %s', (name) => {
  test('has examples, in its --help as in the documentation', () => {
    expect(EXAMPLES[name].length).toBeGreaterThan(0);
    const help = commandHelp(name, 100);
    for (const { command, does } of EXAMPLES[name]) {
      expect(help).toContain(command);
      expect(help).toContain(does);
    }
  });

  test.each(EXAMPLES[name])('takes what it shows: $command', ({ command }) => {
    const [program, word, ...argv] = wordsOf(command);
    expect([program, commandNamed(word)]).toEqual(['millrace', name]);
    expect(parseArguments(name, argv).command).toBe(name);
  });
});

/** As a shell parts them, without what goes to a file. */
function wordsOf(command: string): string[] {
  const [typed = ''] = command.split(' > ');
  return [...typed.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');
}
