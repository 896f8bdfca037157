/** What other nodes of a cluster spend of the same rates. */
export interface SpentElsewhere {
  /** Tells the other nodes of a token spent here. */
  tell(key: string): void;
  /** @param spend counts tokens that were spent at another node */
  hear(spend: (key: string, tokens: number) => void): void;
}
