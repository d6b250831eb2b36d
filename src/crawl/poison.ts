// Three crashes: the first may be chance, the second its echo.
const CRASHES_OF_POISON = 3;

/**
 * Whether a request is to be failed with code POISON instead of being tried again: it has been handed out and lost
 * three times, which happens when its process dies.
 * @param facts.claims how often it was handed out, this time included
 * @param facts.completedAttempts how often an attempt ended and was committed (retries and waits count alike)
 */
export function isPoison(facts: { claims: number; completedAttempts: number }): boolean {
  return facts.claims - 1 - facts.completedAttempts >= CRASHES_OF_POISON;
}
