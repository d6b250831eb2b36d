import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { blocksOf, isShell, pages, reasonNotRun } from './support/blocks.ts';
import { Workshop } from './support/workshop.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

/** Every command of README and docs, typed as it stands there; api.example.com is the practice API. */
describe('the commands of', () => {
  const withCommands = pages().filter((page) => blocksOf(page).some((block) => runs(block)));

  describe.each(withCommands)('%s', (page) => {
    let workshop: Workshop;

    beforeAll(async () => {
      workshop = await Workshop.open();
    });
    afterAll(() => workshop.close());

    test.each(blocksOf(page).filter(runs))('line $line do what they say', async ({ text }) => {
      const { code, output } = await workshop.run(text);
      expect(code, `${text}\n${output}`).toBe(0);
    });
  });
});

function runs(block: ReturnType<typeof blocksOf>[number]): boolean {
  return isShell(block) && reasonNotRun(block) === null;
}
