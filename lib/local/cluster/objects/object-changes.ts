/** One change of an object, at a version of the cluster's objects. `before` and `after`: absent where there was none, and where there is none any more. */
export interface ObjectChange<Kept> {
  readonly version: number;
  readonly before?: Kept;
  readonly after?: Kept;
}

type Follower<Kept> = (change: ObjectChange<Kept>) => void;

/** A client that is further behind lists again. */
const KEPT_CHANGES = 1_000;

/** The latest changes, for clients that watch. They are kept in memory, so a watch of an earlier start begins with a new list. */
export class ObjectChanges<Kept> {
  readonly #followers = new Set<Follower<Kept>>();
  readonly #kept: ObjectChange<Kept>[] = [];
  /** Every later change is kept. */
  #sinceVersion: number;

  constructor(version: number) {
    this.#sinceVersion = version;
  }

  add(change: ObjectChange<Kept>): void {
    this.#kept.push(change);
    const dropped = this.#kept.length > KEPT_CHANGES ? this.#kept.shift() : undefined;
    if (dropped) this.#sinceVersion = dropped.version;
    for (const follower of this.#followers) follower(change);
  }

  /** The changes after a version. Undefined where some of them are not kept. */
  after(version: number): readonly ObjectChange<Kept>[] | undefined {
    return version < this.#sinceVersion ? undefined : this.#kept.filter((change) => change.version > version);
  }

  /** Reports each later change, until the returned function is called. */
  follow(follower: Follower<Kept>): () => void {
    this.#followers.add(follower);
    return () => void this.#followers.delete(follower);
  }

  get followers(): number {
    return this.#followers.size;
  }
}
