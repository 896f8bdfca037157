import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An unknown owner, or one that this user cannot give files to. */
export class OwnerError extends Error {
  override readonly name = 'OwnerError';
}

/** The system user and group that own the rendered files. */
export class Owner {
  readonly #name: string;
  readonly #uid: number;
  readonly #gid: number;

  private constructor(name: string, uid: number, gid: number) {
    this.#name = name;
    this.#uid = uid;
    this.#gid = gid;
  }

  /**
   * @param name USER or USER:GROUP, names or numbers as in chown(1); without GROUP the user's own group
   * @throws OwnerError for an unknown user or group, or without the right to give files away
   */
  static named(name: string): Owner {
    const [user = '', group, ...others] = name.split(':');
    if (user === '' || group === '' || others.length > 0)
      throw new OwnerError(`--owner: expected USER or USER:GROUP, found ${JSON.stringify(name)}`);
    const gid = group === undefined ? idOf('-g', user) : groupId(group);
    const owner = new Owner(name, idOf('-u', user), gid);
    const probe = mkdtempSync(join(tmpdir(), 'ringmaster-owner-'));
    try {
      owner.take([probe]);
    } finally {
      rmdirSync(probe);
    }
    return owner;
  }

  /** @throws OwnerError for the first path that cannot be given away */
  take(paths: readonly string[]): void {
    for (const path of paths) {
      try {
        chownSync(path, this.#uid, this.#gid);
      } catch (cause) {
        const why = (cause as Error).message;
        throw new OwnerError(`--owner: files cannot be given to ${this.#name}: ${why}; run it as root`, { cause });
      }
    }
  }
}

function idOf(flag: '-u' | '-g', user: string): number {
  if (flag === '-u' && /^\d+$/.test(user)) return Number(user);
  const known = run('id', [flag, '--', user]);
  if (known === undefined) throw new OwnerError(`--owner: there is no user ${JSON.stringify(user)}`);
  return Number(known);
}

function groupId(group: string): number {
  if (/^\d+$/.test(group)) return Number(group);
  const known = run('getent', ['group', group])?.split(':')[2];
  if (known === undefined) throw new OwnerError(`--owner: there is no group ${JSON.stringify(group)}`);
  return Number(known);
}

/** The output of a program; undefined after a failure. */
function run(program: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return undefined;
  }
}
