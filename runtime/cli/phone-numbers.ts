const MAX_NUMBERS = 1000;

/**
 * The numbers of `101-110, 201`; those of a range have the width of its ends.
 * @param what the argument, for the error
 * @throws TypeError for anything else
 */
export function numbersOf(what: string, text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  const numbers = parts.filter((part) => part !== '').flatMap((part) => rangeOf(what, part));
  if (numbers.length > MAX_NUMBERS) throw new TypeError(`${what}: found more than ${MAX_NUMBERS} numbers`);
  return [...new Set(numbers)];
}

function rangeOf(what: string, part: string): string[] {
  const [, from = '', to = from] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(part) ?? [];
  const count = Number(to) - Number(from) + 1;
  if (from === '' || to.length !== from.length || count < 1 || count > MAX_NUMBERS) {
    throw new TypeError(`${what}: found "${part}", expected a number or a range such as 101-110`);
  }
  return Array.from({ length: count }, (_, index) => String(Number(from) + index).padStart(from.length, '0'));
}
