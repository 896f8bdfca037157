/** A number and what it counts, in English: `1 call`, `2 calls`. @param noun one whose plural ends in `s` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
