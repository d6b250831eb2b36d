import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from './docs/generated-files.ts';

/** Writes what is made from the schemas in src/config: run it after changing one (`node scripts/generate-docs.ts`). */
for (const [path, text] of generatedFiles()) {
  await writeFile(fileURLToPath(new URL(`../${path}`, import.meta.url)), text);
  process.stdout.write(`${path}\n`);
}
