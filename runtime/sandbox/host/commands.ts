/** The command names of a run, in the required forms. */
export interface OfferedCommands {
  /** The names as a JSON list for the script. */
  readonly text: string;
  readonly names: ReadonlySet<string>;
}

const known = new WeakMap<readonly string[], OfferedCommands>();

/** @param commands dotted names; a list shared by the runs of a module is processed once */
export function offeredCommands(commands: readonly string[]): OfferedCommands {
  let offered = known.get(commands);
  if (offered === undefined) {
    // A name precedes those that it prefixes.
    const text = JSON.stringify(commands.toSorted().map((name) => name.split('.')));
    offered = { text, names: new Set(commands) };
    known.set(commands, offered);
  }
  return offered;
}
