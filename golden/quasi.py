"""Expected quasi-random points, from the definition alone: the tests in crates/core/src/quasi.rs read what this prints.

    python golden/quasi.py > golden/quasi.txt

One line per number: seed, point, coordinate, value. Digits by division, fractions exactly, rounded once at the end.
"""

from fractions import Fraction

MASK32, MASK64 = 2**32 - 1, 2**64 - 1
SCRAMBLE = 10
GOLDEN, PI = 0x9E3779B97F4A7C15, 0x243F6A8885A308D3


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK32, (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK32]
        k = [(k[0] + 0x9E3779B9) & MASK32, (k[1] + 0xBB67AE85) & MASK32]
    return c


def prime(j):
    found, number = [], 2
    while len(found) <= j:
        if all(number % p for p in found):
            found.append(number)
        number += 1
    return found[j]


def child(node, digit):
    product = (node ^ ((digit + 1) * GOLDEN & MASK64)) * PI
    return (product >> 64) ^ (product & MASK64)


def stir(key, p, digit):
    while p > 31:
        bits = p.bit_length()
        for factor in (key, key >> 32, (key * GOLDEN & MASK64) >> 32):
            digit = digit * (factor | 1) % 2**bits
            digit ^= digit >> (bits // 2)
        if digit < p:
            break
    return digit


def coordinate(seed, point, j):
    p = prime(j)
    words = philox((0, SCRAMBLE, j & MASK32, j >> 32), (seed & MASK32, seed >> 32))
    key = words[2] << 32 | words[3]
    node, rest, x, width = words[0] << 32 | words[1], point, Fraction(0), Fraction(1)
    while width > Fraction(1, 2**24) and width / p >= Fraction(1, 2**52):
        digit, rest = rest % p, rest // p
        factor = 1 + ((node * GOLDEN & MASK64) * (p - 1) >> 64)
        shift = node * p >> 64
        width /= p
        x += (factor * stir(key, p, digit) + shift) % p * width
        node = child(node, digit)
    parts = int(2**52 * width)
    part = child(node, rest) * parts >> 64
    return float(x + width * (part + Fraction(1, 2)) / parts)


if __name__ == "__main__":
    for seed in (0, 7, 2**63 + 12345):
        for point in (0, 1, 1000, 2**24 - 1, 2**40 + 3):
            for j in (0, 1, 2, 30, 999):
                print(seed, point, j, repr(coordinate(seed, point, j)))
