/** API commands: their type, and how a line becomes a call. */
import type { MediaCore } from '../core/media-core.ts';

/** An API command: takes its argument text, returns its answer. */
export type ApiCommand = (core: MediaCore, argument: string) => string | Promise<string>;

/** The API commands of the server, by name. */
export type ApiTable = ReadonlyMap<string, ApiCommand>;

/** Runs the command of an `api` or `bgapi` line. */
export function runApi(core: MediaCore, line: string): string | Promise<string> {
  const match = /^(\S*)\s*(.*)$/s.exec(line.trim());
  const name = match?.[1] ?? '';
  const command = core.apis.get(name);
  if (command === undefined) return `-ERR ${name} Command not found!\n`;
  return command(core, (match?.[2] ?? '').trim());
}

/** Splits an argument into words. Single quotes protect spaces; a leading `^^<c>` makes `c` the separator. */
export function words(argument: string): string[] {
  const custom = /^\^\^(.)(.*)$/s.exec(argument);
  if (custom !== null) return (custom[2] as string).split(custom[1] as string);
  return Array.from(argument.matchAll(/'([^']*)'|(\S+)/g), (match) => match[1] ?? match[2] ?? '');
}

export const NO_SESSION = '-ERR Cannot locate session!\n';
export const NO_CHANNEL = '-ERR No such channel!\n';
export const OK = '+OK\n';
export const SUCCESS = '+OK Success\n';
