/** One thing that was looked at. problem = a crawl would not work; warning = it may not work as thought. */
export type SetupCheck = { name: string; status: 'ok' | 'warning' | 'problem'; text: string };

export function ok(name: string, text: string): SetupCheck {
  return { name, status: 'ok', text };
}

export function warning(name: string, text: string): SetupCheck {
  return { name, status: 'warning', text };
}

export function problem(name: string, text: string): SetupCheck {
  return { name, status: 'problem', text };
}
