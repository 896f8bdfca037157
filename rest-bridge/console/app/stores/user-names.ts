/** Names of the users of the domain, for records that hold their ids. */
import { signal } from '@preact/signals';
import { read } from '../lib/api.ts';

interface User {
  readonly id: string;
  readonly login: string;
}

class UserNames {
  readonly #names = signal<ReadonlyMap<string, string>>(new Map());
  #isAsked = false;

  /** The login of a user; the id where the person may not read users, and before they are read. */
  nameOf(id: string): string {
    if (!this.#isAsked) {
      this.#isAsked = true;
      // Who may not read them sees ids.
      read<User[]>('/iam/users', { mask: 'id,login' }).then(
        (users) => {
          this.#names.value = new Map(users.map((user) => [user.id, user.login]));
        },
        () => {},
      );
    }
    return this.#names.value.get(id) ?? id;
  }
}

export const userNames = new UserNames();
