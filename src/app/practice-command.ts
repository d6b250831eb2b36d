import type { AppCommands } from '../app-commands.ts';
import { BUNDLED_PRACTICE_API } from '../practice-api/options.ts';

/** `millrace practice-api`: serves until it is told to stop. */
export const servePracticeApi: AppCommands['servePracticeApi'] = async (job, { signal, ports }, onListening) => {
  const { startPracticeApi } = await import('../practice-api/start-practice-api.ts');
  const api = await startPracticeApi({ ...job, seed: BUNDLED_PRACTICE_API.seed, clock: ports.clock });
  onListening(api.url);
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await api.close();
};
