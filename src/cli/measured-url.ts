import { UsageError } from '../core/errors.ts';

/**
 * Checks the URLs that are to be measured.
 * @returns them as they were given
 * @throws UsageError listing every one that is no http or https URL
 */
export function measuredUrls(operands: readonly string[]): readonly string[] {
  const problems = operands.flatMap((operand) => {
    const url = URL.parse(operand);
    if (url !== null && /^https?:$/.test(url.protocol)) return [];
    const hint = url === null && URL.canParse(`https://${operand}`) ? `: write it whole, https://${operand}` : '';
    return [`${operand}: this is no http or https URL${hint}.`];
  });
  if (problems.length > 0) throw new UsageError(problems);
  return operands;
}
