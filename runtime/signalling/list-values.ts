/**
 * Splits a list header at commas outside of quotes and angle brackets (RFC 3261 section 7.3.1). In a single pass: a
 * regular expression with look-ahead from each comma takes seconds for 30 kB of commas.
 * @returns the values with surrounding blanks; one empty value for an empty text
 */
export function listValues(header: string): string[] {
  const values: string[] = [];
  let start = 0;
  let within: '' | '"' | '<' = '';
  for (let at = 0; at < header.length; at += 1) {
    const char = header[at];
    if (within === '"') {
      if (char === '\\') at += 1;
      else if (char === '"') within = '';
    } else if (within === '<') {
      if (char === '>') within = '';
    } else if (char === '"' || char === '<') {
      within = char;
    } else if (char === ',') {
      values.push(header.slice(start, at));
      start = at + 1;
    }
  }
  return [...values, header.slice(start)];
}
