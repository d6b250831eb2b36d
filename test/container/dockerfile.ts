import { readFileSync } from 'node:fs';

/** One instruction of a Dockerfile: `COPY --from=x a b` has flags {from: 'x'} and rest 'a b'. */
export type Instruction = { keyword: string; flags: Readonly<Record<string, string>>; rest: string };

/** What one FROM begins. */
export type Stage = { base: string; name: string | null; instructions: readonly Instruction[] };

/** Reads a Dockerfile: the part of the syntax that ours use, and no other. */
export function readDockerfile(path: string): Stage[] {
  const stages: (Stage & { instructions: Instruction[] })[] = [];
  for (const line of logicalLines(readFileSync(path, 'utf8'))) {
    const instruction = instructionOf(line);
    if (instruction.keyword === 'FROM') {
      const [base = '', , name = null] = instruction.rest.split(/\s+/);
      stages.push({ base, name, instructions: [] });
    } else stages.at(-1)!.instructions.push(instruction);
  }
  return stages;
}

function logicalLines(text: string): string[] {
  const withoutComments = text.replaceAll(/^\s*#.*\n/gm, '');
  return withoutComments
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '');
}

function instructionOf(line: string): Instruction {
  const [, keyword = '', all = ''] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
  const flagText = /^(?:--\S+\s+)*/.exec(all)![0];
  const flags = [...flagText.matchAll(/--([a-z-]+)=(\S+)/g)].map(([, name, value]) => [name!, value!] as const);
  return { keyword, flags: Object.fromEntries(flags), rest: all.slice(flagText.length).trim() };
}
