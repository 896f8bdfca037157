/** What a caller does, in words, as steps of a test. */

type Step = string | Readonly<Record<string, string>>;

const TIMED: Readonly<Record<string, string>> = {
  'hangs up': 'hangs_up',
  holds: 'holds',
  resumes: 'resumes',
  beeps: 'beeps',
};

/** @param text such as `presses 1, says yes, hangs up after 5s` @returns the first part that is no step, if any */
export function stepsOf(text: string): { readonly steps: readonly Step[] } | { readonly unknown: string } {
  const steps: Step[] = [];
  for (const part of (text.match(/(?:"[^"]*"|[^,"]|")+/g) ?? []).map((each) => each.trim()).filter(Boolean)) {
    const step = stepOf(part);
    if (step === undefined) return { unknown: part };
    steps.push(step);
  }
  return { steps };
}

function stepOf(part: string): Step | undefined {
  if (part === 'silence') return part;
  const [, deed = part, after] = /^(.*?)\s+after\s+(\d\S*)$/.exec(part) ?? [];
  const simple = TIMED[deed];
  if (simple !== undefined) return after === undefined ? simple : { [simple]: after };
  const [, verb = '', what = ''] = /^(presses|says|hears)\s+(\S.*)$/.exec(deed) ?? [];
  if (verb === '') return undefined;
  const value = /^"([^"]*)"$/.exec(what)?.[1] ?? what;
  return { [verb]: value, ...(after !== undefined && { after }) };
}
