/** The functions that a run offers, in the forms in which they are asked for. */
export interface OfferedCommands {
  /** As the script is told them: a JSON list. */
  readonly text: string;
  readonly names: ReadonlySet<string>;
}

const known = new WeakMap<readonly string[], OfferedCommands>();

/** @param commands dotted names; the same list, which all runs of a module share, is looked through once */
export function offeredCommands(commands: readonly string[]): OfferedCommands {
  let offered = known.get(commands);
  if (offered === undefined) {
    // A name comes before those that begin with it.
    const text = JSON.stringify(commands.toSorted().map((name) => name.split('.')));
    offered = { text, names: new Set(commands) };
    known.set(commands, offered);
  }
  return offered;
}
