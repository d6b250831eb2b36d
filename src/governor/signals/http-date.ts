const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const IMF_FIXDATE =
  /^[a-z]{3,9},? (\d{1,2})[ -]([a-z]{3})[ -](\d{4}|\d{2}) (\d{2}):(\d{2}):(\d{2})(?:\.\d+)? (?:gmt|utc|\+0000)$/i;
const ASCTIME = /^[a-z]{3} ([a-z]{3}) +(\d{1,2}) (\d{2}):(\d{2}):(\d{2}) (\d{4})$/i;

/**
 * Reads an HTTP-date in any of its three forms.
 * @returns Unix epoch ms; undefined when it is not one (`Date.parse` would read "0" as the year 2000)
 * @see RFC 9110 section 5.6.7
 */
export function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const trimmed = text.trim();
  const imf = IMF_FIXDATE.exec(trimmed);
  if (imf) return epochMs([imf[3], imf[2], imf[1], imf[4], imf[5], imf[6]]);
  const asctime = ASCTIME.exec(trimmed);
  if (asctime) return epochMs([asctime[6], asctime[1], asctime[2], asctime[3], asctime[4], asctime[5]]);
  return undefined;
}

function epochMs(fields: (string | undefined)[]): number | undefined {
  const month = MONTHS.indexOf((fields[1] ?? '').toLowerCase());
  if (month < 0) return undefined;
  const [day = 0, hours = 0, minutes = 0, seconds = 0] = fields.slice(2).map(Number);
  if (day < 1 || day > 31 || hours > 23 || minutes > 59 || seconds > 60) return undefined;
  return Date.UTC(fullYear(fields[0] ?? ''), month, day, hours, minutes, seconds);
}

/** RFC 850 dates have two digits: a year that seems over 50 years ahead is in the past. */
function fullYear(digits: string): number {
  const year = Number(digits);
  if (digits.length === 4) return year;
  return year < 70 ? 2000 + year : 1900 + year;
}
