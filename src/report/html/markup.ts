/** HTML that is ready to be written: made by `html` only. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
  toString(): string {
    return this.text;
  }
}

type Part = string | number | Markup | null | undefined | false | readonly Part[];

/** A template whose values are escaped, but for Markup; lists are joined, null and false are nothing. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Markup {
  return new Markup(strings.reduce((text, string, index) => `${text}${render(parts[index - 1])}${string}`));
}

/** What was made elsewhere and is known to be safe: our own style sheet and script. */
export function trusted(text: string): Markup {
  return new Markup(text);
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (part instanceof Markup) return part.text;
  if (Array.isArray(part)) return part.map(render).join('');
  return String(part).replaceAll(/[&<>"']/g, (character) => ESCAPES[character] as string);
}
