/** Passwords for people and phones. */
import { randomInt } from 'node:crypto';

/** Digits and small letters that are not mistaken for each other on paper. */
const CHARACTERS = '23456789abcdefghjkmnpqrstuvwxyz';
const GROUPS = 5;
const GROUP_LENGTH = 4;

/** A password of 99 random bits, in groups that are easy to read out and to type on a phone. */
export function generatePassword(): string {
  const group = (): string =>
    Array.from({ length: GROUP_LENGTH }, () => CHARACTERS[randomInt(CHARACTERS.length)]).join('');
  return Array.from({ length: GROUPS }, group).join('-');
}
