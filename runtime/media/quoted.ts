/** An argument of a command of the media server, whose spaces would end it. */
export function quoted(file: string): string {
  return /\s/.test(file) ? `'${file}'` : file;
}
