#include "base/siphash.h"

#include "base/testing.h"

/* The authors' 64 vectors for SipHash-2-4: the key is 00 01 .. 0F, message n is 00 01 .. of n
 * bytes, the tag is read as a little-endian number. The 15-byte one is also in the paper's
 * Appendix A. */
static const uint64_t vectors[64] = {
    UINT64_C(0x726FDB47DD0E0E31), UINT64_C(0x74F839C593DC67FD), UINT64_C(0x0D6C8009D9A94F5A),
    UINT64_C(0x85676696D7FB7E2D), UINT64_C(0xCF2794E0277187B7), UINT64_C(0x18765564CD99A68D),
    UINT64_C(0xCBC9466E58FEE3CE), UINT64_C(0xAB0200F58B01D137), UINT64_C(0x93F5F5799A932462),
    UINT64_C(0x9E0082DF0BA9E4B0), UINT64_C(0x7A5DBBC594DDB9F3), UINT64_C(0xF4B32F46226BADA7),
    UINT64_C(0x751E8FBC860EE5FB), UINT64_C(0x14EA5627C0843D90), UINT64_C(0xF723CA908E7AF2EE),
    UINT64_C(0xA129CA6149BE45E5), UINT64_C(0x3F2ACC7F57C29BDB), UINT64_C(0x699AE9F52CBE4794),
    UINT64_C(0x4BC1B3F0968DD39C), UINT64_C(0xBB6DC91DA77961BD), UINT64_C(0xBED65CF21AA2EE98),
    UINT64_C(0xD0F2CBB02E3B67C7), UINT64_C(0x93536795E3A33E88), UINT64_C(0xA80C038CCD5CCEC8),
    UINT64_C(0xB8AD50C6F649AF94), UINT64_C(0xBCE192DE8A85B8EA), UINT64_C(0x17D835B85BBB15F3),
    UINT64_C(0x2F2E6163076BCFAD), UINT64_C(0xDE4DAAACA71DC9A5), UINT64_C(0xA6A2506687956571),
    UINT64_C(0xAD87A3535C49EF28), UINT64_C(0x32D892FAD841C342), UINT64_C(0x7127512F72F27CCE),
    UINT64_C(0xA7F32346F95978E3), UINT64_C(0x12E0B01ABB051238), UINT64_C(0x15E034D40FA197AE),
    UINT64_C(0x314DFFBE0815A3B4), UINT64_C(0x027990F029623981), UINT64_C(0xCADCD4E59EF40C4D),
    UINT64_C(0x9ABFD8766A33735C), UINT64_C(0x0E3EA96B5304A7D0), UINT64_C(0xAD0C42D6FC585992),
    UINT64_C(0x187306C89BC215A9), UINT64_C(0xD4A60ABCF3792B95), UINT64_C(0xF935451DE4F21DF2),
    UINT64_C(0xA9538F0419755787), UINT64_C(0xDB9ACDDFF56CA510), UINT64_C(0xD06C98CD5C0975EB),
    UINT64_C(0xE612A3CB9ECBA951), UINT64_C(0xC766E62CFCADAF96), UINT64_C(0xEE64435A9752FE72),
    UINT64_C(0xA192D576B245165A), UINT64_C(0x0A8787BF8ECB74B2), UINT64_C(0x81B3E73D20B49B6F),
    UINT64_C(0x7FA8220BA3B2ECEA), UINT64_C(0x245731C13CA42499), UINT64_C(0xB78DBFAF3A8D83BD),
    UINT64_C(0xEA1AD565322A1A0B), UINT64_C(0x60E61C23A3795013), UINT64_C(0x6606D7E446282B93),
    UINT64_C(0x6CA4ECB15C5F91E1), UINT64_C(0x9F626DA15C9625F3), UINT64_C(0xE51B38608EF25F57),
    UINT64_C(0x958A324CEB064572),
};

static void test_vectors(void **state) {
  (void)state;
  uint8_t key[16], message[64];
  for (uint8_t i = 0; i < 16; i++)
    key[i] = i;
  for (uint8_t i = 0; i < 64; i++)
    message[i] = i;
  for (size_t len = 0; len < 64; len++)
    assert_true(ls__siphash(key, message, len) == vectors[len]);
}

/* Every bit of key and message changes the tag, in about half of its bits; nothing beyond the
 * length is read. */
static void test_every_bit_counts(void **state) {
  (void)state;
  uint8_t bytes[16 + 29];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)(i * 37);
  uint64_t tag = ls__siphash(bytes, bytes + 16, 28);
  int changed = 0;
  const int bits = (16 + 28) * 8;
  for (int bit = 0; bit < bits; bit++) {
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    int distance = __builtin_popcountll(tag ^ ls__siphash(bytes, bytes + 16, 28));
    assert_in_range(distance, 10, 54);
    changed += distance;
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
  }
  assert_in_range(changed / bits, 30, 34);
  bytes[16 + 28] ^= 0xFF;
  assert_true(ls__siphash(bytes, bytes + 16, 28) == tag);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_vectors),
      cmocka_unit_test(test_every_bit_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
