/** A count that fades with every other answer, and from where on it is no chance any more where nothing else fails. */
type Fading = { readonly kept: number; readonly most: number };

const FADINGS: readonly Fading[] = [
  // Two within 8 answers: a server that fails 1 request in 100 does that for 1 failure in 12, one that is asked for
  // twice what it serves at once.
  { kept: 0.92, most: 1.5 },
  // Three or four within some 40: what a server does that is asked for a tenth more than it serves.
  { kept: 0.98, most: 2.5 },
  // Six or more within some 150: a twentieth more.
  { kept: 0.995, most: 5.5 },
];

// So many other answers after it, and a failure has stood alone.
const ALONE_AFTER_ANSWERS = 20;
const BACKGROUND_KEPT = 0.9997;
// A level forgotten wrongly was a limit, and what it refused is no fault: sooner forgotten.
const USUAL_KEPT = 0.999;
// Few failures in few answers say little of their share.
const ANSWERS_TAKEN_FOR_GRANTED = 100;
const FAULTS_TAKEN_FOR_CHANCE = 0.5;
const HARDLY_EVER = 0.001;
// A server that fails 1 request in 100 has shown it by then.
const ANSWERS_THAT_TELL = 500;
// Looking back over some 100 answers.
const RECENT_KEPT = 0.99;
// So rarely may what a server fails anyway be taken for a limit: once in so many failures.
const CHANCE = 0.0005;

/** Near the level that failed, or on the way towards it. */
export type RatePlace = { isNearLimit: boolean; isSearching: boolean };

/**
 * Tells a server that fails now and then from one that is asked for too much, where both answer 503: by how close
 * together such answers come beside what it fails anyway, and by how near the known limit they are.
 */
export class Overloads {
  /** By fading. */
  readonly #counts = FADINGS.map(() => 0);
  /** Failures that stood alone, and all answers, both fading slowly: their share is what the server fails anyway. */
  #alone = 0;
  #answers = 0;
  /** The share that it failed at any rate, fading slowly. */
  #usualShare = 0;
  #recentFailures = 0;
  #recentAnswers = 0;
  /** Other answers since a failure that may yet turn out to stand alone; null = there is none. */
  #answersSince: number | null = null;

  /** Any other answer came. @returns whether it shows that the last failure stood alone, below the limit */
  answered(): boolean {
    for (let index = 0; index < FADINGS.length; index++) this.#counts[index]! *= FADINGS[index]!.kept;
    this.#countAnswer();
    if (this.#answersSince === null || ++this.#answersSince < ALONE_AFTER_ANSWERS) return false;
    this.#answersSince = null;
    this.#alone += 1;
    return true;
  }

  /**
   * @param place where the rate is. Where a refusal is no surprise one is enough, if this server has never failed for
   *   nothing (what a fault made us take for the limit would else be found again and again, lower each time)
   * @returns whether this one stands alone: a fault of the server's, that says nothing of the rate
   */
  refused({ isNearLimit, isSearching }: RatePlace): boolean {
    for (let index = 0; index < FADINGS.length; index++) this.#counts[index]! += 1;
    this.#countAnswer();
    this.#recentFailures += 1;
    const neverFails = this.#alone < FAULTS_TAKEN_FOR_CHANCE && this.#usualShare < HARDLY_EVER;
    const isExpected = neverFails && (isNearLimit || (isSearching && this.#answers >= ANSWERS_THAT_TELL));
    const isAlone = !isExpected && !this.#areTooMany();
    // They have been acted upon: the next one is to be judged without them, where it may be a fault.
    if (!isAlone && !neverFails) this.#counts.fill(0);
    this.#answersSince = isAlone && !isNearLimit ? 0 : null;
    return isAlone;
  }

  /** More have come, by any of the fading counts, than it fails anyway. */
  #areTooMany(): boolean {
    const alone = Math.max(0, this.#alone - FAULTS_TAKEN_FOR_CHANCE) / (this.#answers + ANSWERS_TAKEN_FOR_GRANTED);
    const failsAnyway = Math.max(alone, this.#usualShare);
    return FADINGS.some(
      ({ kept, most }, index) => this.#counts[index]! >= most + furtherByChance(failsAnyway / (1 - kept)),
    );
  }

  /** It fails as often whatever the rate: the share of the last answers is what it fails anyway. */
  takeAsUsual(): void {
    this.#usualShare = Math.max(this.#usualShare, this.#recentFailures / Math.max(1, this.#recentAnswers));
    this.#counts.fill(0);
  }

  #countAnswer(): void {
    this.#recentFailures *= RECENT_KEPT;
    this.#recentAnswers = this.#recentAnswers * RECENT_KEPT + 1;
    this.#answers = this.#answers * BACKGROUND_KEPT + 1;
    this.#alone *= BACKGROUND_KEPT;
    this.#usualShare *= USUAL_KEPT;
  }
}

/** @returns how many more than one may come by chance where `mean` do on the average (Poisson) */
function furtherByChance(mean: number): number {
  if (mean <= 0) return 0;
  let probability = Math.exp(-mean);
  let atLeast = 1 - probability;
  let count = 0;
  while (atLeast > CHANCE) {
    count += 1;
    probability *= mean / count;
    atLeast -= probability;
  }
  return count;
}
