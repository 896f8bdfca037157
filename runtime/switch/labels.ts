/** Labels that a dialog passes on to the one that replaces it, with one more where one is given. */
export function withLabel(labels: ReadonlySet<string>, label: string | undefined): ReadonlySet<string> {
  return label === undefined || label === '' ? labels : new Set([...labels, label]);
}
