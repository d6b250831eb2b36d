import { actorInputSchema } from './actor-input-schema.ts';
import { configurationPage } from './configuration-page.ts';
import { messagesPage } from './messages-page.ts';
import { optionHelpModule } from './option-help.ts';
import { readmeWithResults } from './readme-results.ts';
import { inputJsonSchema } from './settings.ts';
import { troubleshootingPage } from './troubleshooting-page.ts';

/** What is made from schemas, tables and measurements, and committed: path from the root of the project, and text. */
export function generatedFiles(): Map<string, string> {
  return new Map([
    ['src/cli/option-help.ts', optionHelpModule()],
    ['docs/millrace.schema.json', `${JSON.stringify(inputJsonSchema(), null, 2)}\n`],
    ['docs/configuration.md', configurationPage()],
    ['.actor/input_schema.json', `${JSON.stringify(actorInputSchema(), null, 2)}\n`],
    ['docs/troubleshooting.md', troubleshootingPage()],
    ['docs/messages.md', messagesPage()],
    ['README.md', readmeWithResults()],
  ]);
}
