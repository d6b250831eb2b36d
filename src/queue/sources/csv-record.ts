/** One record's fields; or null: the text ends within a quoted field, so that the record goes on in the next line. */
export type CsvFields = string[] | null;

/**
 * Splits the text of one CSV record as RFC 4180 says; beyond it, as spreadsheets do, a quote within a field that does
 * not start with one stands for itself, and what follows a closing quote belongs to the field.
 * @param delimiter one character
 */
export function splitCsvRecord(text: string, delimiter: string): CsvFields {
  if (!text.includes('"')) return text.split(delimiter);
  const fields: string[] = [];
  for (let start = 0; ; ) {
    const field = text[start] === '"' ? quotedField(text, start, delimiter) : plainField(text, start, delimiter);
    if (field === null) return null;
    fields.push(field.value);
    if (field.end >= text.length) return fields;
    start = field.end + 1;
  }
}

type Field = { value: string /** Where the delimiter stands, or the text ends. */; end: number };

function plainField(text: string, start: number, delimiter: string): Field {
  const end = text.indexOf(delimiter, start);
  return end < 0 ? { value: text.slice(start), end: text.length } : { value: text.slice(start, end), end };
}

function quotedField(text: string, start: number, delimiter: string): Field | null {
  let value = '';
  for (let from = start + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return null;
    value += text.slice(from, quote);
    if (text[quote + 1] === '"') {
      value += '"';
      from = quote + 2;
    } else {
      const tail = plainField(text, quote + 1, delimiter);
      return { value: value + tail.value, end: tail.end };
    }
  }
}

const DELIMITERS = [',', ';', '\t', '|'];

/** @returns the delimiter of a header line: the one that is most often in it outside quotes; a comma when none is */
export function guessDelimiter(header: string): string {
  const bare = header.replaceAll(/"[^"]*"/g, '');
  const counts = DELIMITERS.map((delimiter) => bare.split(delimiter).length - 1);
  return DELIMITERS[counts.indexOf(Math.max(...counts))]!;
}
