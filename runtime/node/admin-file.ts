/** The file of `RINGMASTER_ADMIN_FILE`: the first accounts of an empty store. */
import { readFileSync } from 'node:fs';
import type { FirstAccounts } from '../iam/index.ts';

const FORM =
  '{"domain": "shop.example", "admin": "root", "pwd": "…"}, and if phones are wanted "sipusers": [{"login": "101", "pwd": "…"}]';

/** A file that is no such file; the message tells the field and the form. */
export class AdminFileError extends Error {
  override readonly name = 'AdminFileError';
  constructor(file: string, problem: string, options?: ErrorOptions) {
    super(`RINGMASTER_ADMIN_FILE: ${file}: ${problem}; expected ${FORM}`, options);
  }
}

/**
 * Reads the file. Passwords must be there: an unattended start could tell a generated one to nobody.
 *
 * @throws AdminFileError when the file cannot be read, or a field is missing, unknown or of another type
 */
export function readAdminFile(file: string): FirstAccounts {
  const fields = fieldsOf(file, read(file), 'the file', ['domain', 'admin', 'pwd', 'sipusers']);
  const { sipusers = [] } = fields;
  if (!Array.isArray(sipusers)) throw new AdminFileError(file, 'sipusers is no list');
  return {
    domain: textOf(file, fields, 'domain'),
    admin: { login: textOf(file, fields, 'admin'), pwd: textOf(file, fields, 'pwd') },
    sipusers: sipusers.map((each: unknown, index) => {
      const sipuser = fieldsOf(file, each, `sipusers.${index}`, ['login', 'pwd']);
      const where = `sipusers.${index}.`;
      return { login: textOf(file, sipuser, 'login', where), pwd: textOf(file, sipuser, 'pwd', where) };
    }),
  };
}

function read(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (cause) {
    // JSON's own message quotes the text, which holds passwords.
    const problem = cause instanceof SyntaxError ? 'is not JSON' : (cause as Error).message;
    throw new AdminFileError(file, problem, cause instanceof SyntaxError ? {} : { cause });
  }
}

function fieldsOf(file: string, value: unknown, what: string, known: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new AdminFileError(file, `${what} is no object`);
  }
  const unknown = Object.keys(value).find((name) => !known.includes(name));
  if (unknown !== undefined) throw new AdminFileError(file, `${what} has the unknown field ${unknown}`);
  return value as Record<string, unknown>;
}

function textOf(file: string, fields: Record<string, unknown>, name: string, where = ''): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') {
    throw new AdminFileError(file, `${where}${name} ${value === undefined ? 'is missing' : 'is no text, or empty'}`);
  }
  return value;
}
