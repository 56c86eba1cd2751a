// The records of all nodes of one graph, stored whole when small, as differences from a base when large.
//
// Up to 256 bytes a record is copied. Above, only the 8-byte words that differ from the first record stored are kept, in
// ascending order: for a fixed base, equal records have equal differences, so comparison stays exact. The hash is a sum over
// words (random.hpp), hence it too follows from the differences alone. A record is *offered* first, then looked up by hash
// and `equals`, then appended if it is new; offering keeps its differences for both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "anabranch/column.hpp"
#include "anabranch/random.hpp"

namespace anabranch {

// Copy a record: a few words, for which a call would cost more than the copy.
inline void copy_record(std::byte* to, const std::byte* from, std::size_t size) {
  if (size > 64) {
    std::memcpy(to, from, size);
    return;
  }
  for (std::size_t at = 0; at < size; at += 8) std::memcpy(to + at, from + at, 8);
}

class States {
 public:
  static constexpr std::size_t kWhole = 256;

  // `whole`: copied whatever their size, since they are written again.
  explicit States(std::size_t size, bool whole = false) : size_(size), words_(size / 8), whole_(whole || size <= kWhole) {}

  std::size_t size() const { return count_; }
  std::size_t record_size() const { return size_; }
  std::size_t bytes() const { return data_.bytes() + starts_.bytes() + places_.bytes() + changes_.bytes(); }

  void reserve(std::size_t count) {
    if (whole_) data_.reserve(count * size_);
  }

  // Look at a record (aligned to 8 bytes, a multiple of 8 long); the hash of its bytes.
  std::uint64_t offer(const std::byte* record) {
    offered_ = record;
    if (whole_) return key_of_bytes(record, size_);
    if (count_ == 0) {
      base_.assign(record, record + size_);
      base_sum_ = 0;
      for (std::size_t i = 0; i < words_; ++i) base_sum_ += mixed(word(record, i), i);
    }
    new_places_.clear();
    new_changes_.clear();
    std::uint64_t sum = base_sum_;
    constexpr std::size_t kStride = 64;  // compare a run of words at once, most are unchanged
    for (std::size_t run = 0; run < words_; run += kStride) {
      const std::size_t end = run + kStride < words_ ? run + kStride : words_;
      if (std::memcmp(record + run * 8, base_.data() + run * 8, (end - run) * 8) == 0) continue;
      for (std::size_t i = run; i < end; ++i) {
        const std::uint64_t now = word(record, i), was = word(base_.data(), i);
        if (now == was) continue;
        sum += mixed(now, i) - mixed(was, i);
        new_places_.push_back(static_cast<std::uint32_t>(i));
        new_changes_.push_back(now);
      }
    }
    return mix(sum + size_);
  }

  // The same where nobody looks for equal ones, as where a model's latents equal no other.
  void offer_unlike(const std::byte* record) { offered_ = record; }

  // A record that is stored whole, to be read or written where it is.
  std::byte* at(std::size_t id) { return data_.data() + id * size_; }
  const std::byte* at(std::size_t id) const { return data_.data() + id * size_; }

  // Whether the record stored under `id` equals the one offered.
  bool equals(std::size_t id) const {
    if (whole_) return std::memcmp(data_.data() + id * size_, offered_, size_) == 0;
    const std::size_t first = starts_[id], count = starts_[id + 1] - first;
    return count == new_places_.size() &&
           (count == 0 || (std::memcmp(&places_[first], new_places_.data(), count * sizeof(std::uint32_t)) == 0 &&
                           std::memcmp(&changes_[first], new_changes_.data(), count * sizeof(std::uint64_t)) == 0));
  }

  // Store the record offered last.
  void append() {
    if (whole_) {
      const std::size_t at = data_.extend(size_);
      copy_record(data_.data() + at, offered_, size_);
    } else {
      const std::size_t count = new_places_.size();
      starts_.reserve(count_ + 2);  // room first: all of it is stored, or nothing
      places_.reserve(places_.size() + count);
      changes_.reserve(changes_.size() + count);
      if (starts_.size() == 0) starts_.push(0);
      for (std::size_t i = 0; i < count; ++i) {
        places_.push(new_places_[i]);
        changes_.push(new_changes_[i]);
      }
      starts_.push(places_.size());
    }
    ++count_;
  }

  void load(std::size_t id, std::byte* record) const {
    if (whole_) {
      copy_record(record, data_.data() + id * size_, size_);
      return;
    }
    std::memcpy(record, base_.data(), size_);
    for (std::size_t i = starts_[id]; i < starts_[id + 1]; ++i) std::memcpy(record + places_[i] * 8, &changes_[i], 8);
  }

  void cut(std::size_t count) {
    if (whole_) {
      data_.cut(count * size_);
    } else if (count < count_) {
      places_.cut(starts_[count]);
      changes_.cut(starts_[count]);
      starts_.cut(count + 1);
    }
    count_ = count;
  }

  void clear() {
    for (auto* column : {&starts_, &changes_}) column->clear();
    places_.clear();
    data_.clear();
    count_ = 0;
  }

  const Column<std::byte>& whole() const { return data_; }  // every record, one after the other; empty for large ones

 private:
  static std::uint64_t word(const std::byte* record, std::size_t index) {
    std::uint64_t value;
    std::memcpy(&value, record + index * 8, 8);
    return value;
  }
  static std::uint64_t mixed(std::uint64_t value, std::size_t index) { return mix(value ^ place_of(index)); }

  std::size_t size_, words_;
  bool whole_;
  std::size_t count_ = 0;
  const std::byte* offered_ = nullptr;
  Column<std::byte> data_;
  std::vector<std::byte> base_;
  std::uint64_t base_sum_ = 0;
  Column<std::uint64_t> starts_;  // of each record's differences, and where the last ones end
  Column<std::uint32_t> places_;
  Column<std::uint64_t> changes_;
  std::vector<std::uint32_t> new_places_;
  std::vector<std::uint64_t> new_changes_;
};

}  // namespace anabranch
