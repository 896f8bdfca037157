/** Quotes an argument of a media server command, which may contain spaces. */
export function quoted(file: string): string {
  return /\s/.test(file) ? `'${file}'` : file;
}
