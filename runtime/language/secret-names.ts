/** `secrets.NAME`, `secrets['NAME']`, and `{ NAME } = secrets`. */
const MEMBER = /\bsecrets\s*(?:\??\.\s*([A-Za-z0-9_]{1,64})|(?:\?\.)?\s*\[\s*(['"])([A-Za-z0-9_]{1,64})\2\s*\])/g;
const TAKEN_OUT = /\{([^{}]*)\}\s*=\s*secrets\b/g;

/** Placeholders, as `SecretBox` makes them. */
const PLACEHOLDER = /\{\{secret:([A-Za-z0-9_]{1,64}):[0-9a-f]{32}\}\}/g;

/** Names of the secrets in the text of a scenario; computed names are not found. */
export function namedSecrets(text: string): readonly string[] {
  const members = [...text.matchAll(MEMBER)].map(([, dotted, , quoted]) => dotted ?? quoted ?? '');
  const takenOut = [...text.matchAll(TAKEN_OUT)].flatMap(([, names = '']) =>
    names.split(',').map((part) => /^\s*([A-Za-z0-9_]{1,64})/.exec(part)?.[1] ?? ''),
  );
  return [...new Set([...members, ...takenOut])].filter((name) => name !== '');
}

/** The placeholder of a secret without a known value, in tests and simulations. */
export function nameOfSecret(name: string): string {
  return `\${secrets.${name}}`;
}

/** Replaces the placeholders of one run by the names of the secrets, for readers and tests. */
export function withSecretsNamed(text: string): string {
  return text.replaceAll(PLACEHOLDER, (_, name: string) => nameOfSecret(name));
}
