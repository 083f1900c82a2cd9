/** Keeps the first `count` items of an order in a heap whose root is the last of them. */
export class TopK<T> {
  private readonly heap: T[] = [];
  constructor(
    private readonly count: number,
    private readonly compare: (a: T, b: T) => number,
  ) {}

  add(item: T): void {
    const { heap, compare } = this;
    if (heap.length < this.count) {
      heap.push(item);
      this.siftUp(heap.length - 1);
    } else if (heap.length > 0 && compare(item, heap[0]!) < 0) {
      heap[0] = item;
      this.siftDown();
    }
  }

  sorted(): readonly T[] {
    return [...this.heap].sort(this.compare);
  }

  private siftUp(from: number): void {
    const { heap, compare } = this;
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (compare(heap[at]!, heap[parent]!) <= 0) return;
      [heap[at], heap[parent]] = [heap[parent]!, heap[at]!];
      at = parent;
    }
  }

  private siftDown(): void {
    const { heap, compare } = this;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      if (left >= heap.length) return;
      const right = left + 1;
      const greater = right < heap.length && compare(heap[right]!, heap[left]!) > 0 ? right : left;
      if (compare(heap[greater]!, heap[at]!) <= 0) return;
      [heap[at], heap[greater]] = [heap[greater]!, heap[at]!];
      at = greater;
    }
  }
}
