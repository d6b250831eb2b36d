import type { Painter } from './terminal.ts';

const BAR_COLUMNS = 20;

/** @param share 0 to 1. @returns a bar of 20 columns and the share in percent */
export function progressBar(share: number, paint: Painter): string {
  const filled = Math.min(BAR_COLUMNS, Math.floor(share * BAR_COLUMNS));
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  return `${paint('green', '█'.repeat(filled))}${paint('dim', '░'.repeat(BAR_COLUMNS - filled))} ${percent}`;
}
