// SPDX-License-Identifier: MIT
// grid.cpp - meshes and .vdb files to NanoVDB grids, by OpenVDB (Museth 2013). C++ because OpenVDB has no C interface;
// no exception leaves this file. Files are read in a child process (base/isolate.h), which sends leaves and tiles; what
// arrives is checked and made a grid again here, because offsets within a finished one could lead anywhere.
#include "geometry/grid.h"

#include "base/error.h"
#include "base/file.h"
#include "base/isolate.h"
#include "base/stop.h"

// The library and this file must agree on one copy of OpenVDB's static data: hidden, initialize() crashes.
#pragma GCC visibility push(default)
#include <nanovdb/util/NanoToOpenVDB.h>
#include <nanovdb/util/OpenToNanoVDB.h>
#include <openvdb/openvdb.h>
#include <openvdb/io/Stream.h>
#include <openvdb/math/Proximity.h>
#include <openvdb/tools/MeshToVolume.h>
#include <openvdb/tree/LeafManager.h>
#include <tbb/task_arena.h>
#pragma GCC visibility pop

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <istream>
#include <streambuf>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace {

constexpr int REFINING_ROUNDS = 2;
constexpr float REFINED_CELLS = 6.0f; // farther off, a fraction of a cell does no harm

// A mesh in voxels. OpenVDB's own adapter and interrupter, because for these its library holds meshToVolume compiled:
// made from the templates it takes a compiler minutes.
using MeshAdapter = openvdb::tools::QuadAndTriangleDataAdapter<openvdb::Vec3s, openvdb::Vec3I>;

struct VoxelMesh {
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;

    VoxelMesh(const MoteVec3 *positions, size_t position_count, const uint32_t *corners, size_t triangle_count,
              double cells_per_metre)
    {
        points.reserve(position_count);
        triangles.reserve(triangle_count);
        for (size_t i = 0; i < position_count; i++) {
            const MoteVec3 p = positions[i];
            points.emplace_back(openvdb::Vec3d(p.x, p.y, p.z) * cells_per_metre);
        }
        for (size_t i = 0; i < triangle_count; i++) {
            triangles.emplace_back(corners[3 * i], corners[3 * i + 1], corners[3 * i + 2]);
        }
    }
};

// What OpenVDB asks between its parts whether it is to end.
struct Interrupter final : openvdb::util::NullInterrupter { // as which it is passed on
    StopWatch watch = stop_watch();
    bool wasInterrupted(int) override { return stop_watch_asks(&watch); }
};

// Runs `work` with one thread: which of two triangles at the same distance is the closest, and with it the last bits of
// distances that spread from it, would otherwise depend on how threads take turns. A child process can have no other.
template <typename Work> MoteResult guarded(const char *name, const Work &work)
{
    try {
        static const bool ready = (openvdb::initialize(), true);
        (void)ready;
        tbb::task_arena alone(1);
        MoteResult result = MOTE_OK;
        alone.execute([&] { result = work(); });
        return result;
    } catch (const std::bad_alloc &) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: no memory for its distance field", name);
    } catch (const std::ios_base::failure &) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: OpenVDB could not make a distance field of it: it ends too early", name);
    } catch (const std::exception &error) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: OpenVDB could not make a distance field of it: %s", name, error.what());
    } catch (...) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: OpenVDB could not make a distance field of it", name);
    }
}

template <typename GridType> GridBlob to_blob(const GridType &grid)
{
    const auto handle = nanovdb::openToNanoVDB(grid, nanovdb::StatsMode::Disable, nanovdb::ChecksumMode::Disable);
    GridBlob blob = {nullptr, handle.size() / 4}; // NanoVDB's sizes are multiples of its alignment
    blob.words = static_cast<uint32_t *>(std::aligned_alloc(NANOVDB_DATA_ALIGNMENT, handle.size()));
    if (blob.words == nullptr) {
        throw std::bad_alloc();
    }
    std::memcpy(blob.words, handle.data(), handle.size());
    return blob;
}

double squared_distance(const MeshAdapter &mesh, openvdb::Int32 triangle, const openvdb::Vec3d &p)
{
    openvdb::Vec3d a, b, c, weights;
    mesh.getIndexSpacePoint(static_cast<size_t>(triangle), 0, a);
    mesh.getIndexSpacePoint(static_cast<size_t>(triangle), 1, b);
    mesh.getIndexSpacePoint(static_cast<size_t>(triangle), 2, c);
    return (p - openvdb::math::closestPointOnTriangleToPoint(a, b, c, p, weights)).lengthSqr();
}

// OpenVDB spreads distances from voxel to voxel, each trying the triangle of the one it came from, so that some miss the
// nearest: by a quarter of a cell two cells away, with normals 11 degrees off. Here each voxel up to `reach` cells from
// the surface tries the triangles of all its 26 neighbours. The order of voxels does not matter: all read `before`.
void refine(openvdb::FloatGrid &grid, openvdb::Int32Grid &closest, const MeshAdapter &mesh, float reach, StopWatch *watch)
{
    const openvdb::Int32Grid::Ptr before = closest.deepCopy();
    const float size = static_cast<float>(grid.voxelSize()[0]);
    openvdb::tree::LeafManager<openvdb::FloatTree> leaves(grid.tree());
    leaves.foreach ([&](openvdb::FloatTree::LeafNodeType &leaf, size_t) {
        const auto *own_leaf = before->tree().probeConstLeaf(leaf.origin());
        auto *new_leaf = closest.tree().probeLeaf(leaf.origin());
        if (own_leaf == nullptr || new_leaf == nullptr || stop_watch_asks(watch)) {
            return;
        }
        auto neighbours = before->getConstAccessor();
        for (auto value = leaf.beginValueOn(); value; ++value) {
            const openvdb::Int32 own = own_leaf->getValue(value.pos());
            if (own < 0 || std::fabs(*value) > reach * size) {
                continue;
            }
            const openvdb::Coord at = value.getCoord();
            openvdb::Int32 tried[27] = {own}, best = own;
            int count = 1;
            double nearest = std::numeric_limits<double>::max();
            for (int n = 0; n < 27; n++) {
                const openvdb::Int32 other =
                    n == 13 ? own : neighbours.getValue(at.offsetBy(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1));
                if (other < 0 || (n != 13 && std::find(tried, tried + count, other) != tried + count)) {
                    continue;
                }
                tried[count < 27 ? count++ : 26] = other;
                const double squared = squared_distance(mesh, other, at.asVec3d());
                if (squared < nearest || (squared == nearest && other < best)) {
                    nearest = squared;
                    best = other;
                }
            }
            new_leaf->setValueOnly(value.pos(), best);
            value.setValue(std::copysign(static_cast<float>(std::sqrt(nearest)) * size, *value));
        }
    }, false);
}

// Distances of a surface become those that particles feel: solid inside, outside, or about the surface, grown by the
// offset. `deepest` (m) takes the place of "far inside" where no distance is known.
void apply_mode(openvdb::FloatGrid &grid, const GridOptions &options, float deepest)
{
    const float sign = options.mode == MOTE_FIELD_OUTSIDE ? -1.0f : 1.0f;
    const auto felt = [&](float distance) {
        distance = std::max(distance, -deepest);
        return (options.mode == MOTE_FIELD_SHELL ? std::fabs(distance) : sign * distance) - options.offset;
    };
    for (auto value = grid.beginValueAll(); value; ++value) {
        value.setValue(felt(*value));
    }
    grid.tree().root().setBackground(felt(grid.background()), false);
}

MoteResult finish(openvdb::FloatGrid &grid, const openvdb::Int32Grid *closest, const GridOptions &options, FieldGrids *out)
{
    const openvdb::CoordBBox box = grid.evalActiveVoxelBoundingBox();
    if (box.empty()) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: its distance field has no voxel: is it smaller than a cell of %g m?",
                         options.name, static_cast<double>(grid.voxelSize()[0]));
    }
    const double size = grid.voxelSize()[0];
    const openvdb::Vec3d origin = grid.indexToWorld(openvdb::Coord(0, 0, 0));
    const openvdb::Vec3d bounds_min = grid.indexToWorld(box.min()), bounds_max = grid.indexToWorld(box.max());
    apply_mode(grid, options, static_cast<float>((bounds_max - bounds_min).length()));
    const auto vector = [](const openvdb::Vec3d &v) {
        return MoteVec3{static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
    };
    out->origin = vector(origin);
    out->bounds_min = vector(bounds_min);
    out->bounds_max = vector(bounds_max);
    out->cell_size = static_cast<float>(size);
    out->outside = grid.background();
    out->voxels = grid.activeVoxelCount();
    out->distances = to_blob(grid);
    if (closest != nullptr) {
        out->closest = to_blob(*closest);
    }
    return MOTE_OK;
}

} // namespace

extern "C" MoteResult grids_from_mesh(const GridOptions *options, const MoteVec3 *positions, uint32_t position_count,
                                      const uint32_t *triangles, uint32_t triangle_count, FieldGrids *out)
{
    *out = {};
    const MoteResult result = guarded(options->name, [&] {
        const double size = options->cell_size;
        const VoxelMesh voxels(positions, position_count, triangles, triangle_count, 1.0 / size);
        const MeshAdapter mesh(voxels.points, voxels.triangles);
        Interrupter interrupter;
        const auto transform = openvdb::math::Transform::createLinearTransform(size);
        openvdb::Int32Grid closest(static_cast<openvdb::Int32>(openvdb::util::INVALID_IDX));
        const bool shell = options->mode == MOTE_FIELD_SHELL;
        // An offset surface lies outside the mesh, or for a container inside it: the band goes on beyond it.
        const float offset = options->offset / options->cell_size;
        const float outwards = options->mode == MOTE_FIELD_OUTSIDE ? 0.0f : std::max(offset, 0.0f);
        const float inwards = options->mode == MOTE_FIELD_OUTSIDE ? std::max(offset, 0.0f) : std::max(-offset, 0.0f);
        const float interior = options->interior < std::numeric_limits<float>::max() ? options->interior + inwards
                                                                                    : options->interior;
        auto grid = openvdb::tools::meshToVolume<openvdb::FloatGrid>(
            interrupter.interrupter(), mesh, *transform, options->band + outwards + 1.0f, interior,
            shell ? openvdb::tools::UNSIGNED_DISTANCE_FIELD : openvdb::tools::DISABLE_RENORMALIZATION, &closest);
        for (int round = 0; round < REFINING_ROUNDS && !interrupter.watch.stopped; round++) {
            refine(*grid, closest, mesh, std::min(options->band, REFINED_CELLS) + outwards + 1.0f, &interrupter.watch);
        }
        if (interrupter.watch.stopped) {
            return stop_watch_result(&interrupter.watch);
        }
        return finish(*grid, options->with_closest ? &closest : nullptr, *options, out);
    });
    if (result != MOTE_OK) {
        grids_free(out);
    }
    return result;
}

// ---- Files -----------------------------------------------------------------------------------------------------

namespace {

constexpr size_t FILE_LIMIT = size_t{1} << 30;  // bytes
constexpr int32_t INDEX_LIMIT = 1 << 24;        // cells from the origin: floats tell them apart
constexpr double PLACE_LIMIT = 1e9;             // m
const char *const PURPOSE = "cannot be read as an OpenVDB file";

struct GridFile {
    const char *path, *grid_name;
    char *bytes;
    size_t size;
    uint64_t memory; // bytes that a grid may take
    openvdb::FloatGrid::Ptr grid;
};

// What the pipe carries: the head, tiles, leaves.
struct GridHead {
    double cell_size, origin[3];
    uint64_t tiles, leaves;
    float background;
    uint32_t unused;
};

struct GridTile {
    int32_t at[3];
    uint32_t level, active;
    float value;
};

struct GridLeaf {
    int32_t at[3];
    uint32_t unused;
    uint64_t active[openvdb::FloatTree::LeafNodeType::SIZE / 64];
    float values[openvdb::FloatTree::LeafNodeType::SIZE];
};

class MemoryBuffer : public std::streambuf {
  public:
    MemoryBuffer(char *bytes, size_t size)
    {
        setg(bytes, bytes, bytes + size);
    }

  protected:
    pos_type seekoff(off_type offset, std::ios_base::seekdir way, std::ios_base::openmode) override
    {
        const off_type from = way == std::ios_base::beg ? 0 : way == std::ios_base::cur ? gptr() - eback() : egptr() - eback();
        const off_type size = egptr() - eback();
        if (offset < -from || offset > size - from) {
            return pos_type(off_type(-1));
        }
        setg(eback(), eback() + from + offset, egptr());
        return pos_type(from + offset);
    }
    pos_type seekpos(pos_type to, std::ios_base::openmode mode) override
    {
        return seekoff(off_type(to), std::ios_base::beg, mode);
    }
};

// Calls `visit` for each tile that says more than the background does.
template <typename Visit> void each_tile(const openvdb::FloatGrid &grid, const Visit &visit)
{
    auto tile = grid.tree().cbeginValueAll();
    tile.setMaxDepth(openvdb::FloatTree::ValueAllCIter::LEAF_DEPTH - 1);
    for (; tile; ++tile) {
        if (tile.isValueOn() || *tile != grid.background()) {
            const openvdb::Coord at = tile.getCoord();
            visit(GridTile{{at[0], at[1], at[2]}, static_cast<uint32_t>(tile.getLevel()), tile.isValueOn(), *tile});
        }
    }
}

void send_grid(const openvdb::FloatGrid &grid, IsolatePipe *out)
{
    const openvdb::Vec3d origin = grid.indexToWorld(openvdb::Vec3d(0, 0, 0));
    GridHead head = {grid.voxelSize()[0], {origin[0], origin[1], origin[2]}, 0, grid.tree().leafCount(), grid.background(),
                     0};
    each_tile(grid, [&](const GridTile &) { head.tiles++; });
    isolate_send(out, &head, sizeof head);
    each_tile(grid, [&](const GridTile &tile) { isolate_send(out, &tile, sizeof tile); });
    for (auto leaf = grid.tree().cbeginLeaf(); leaf; ++leaf) {
        const openvdb::Coord at = leaf->origin();
        GridLeaf sent = {{at[0], at[1], at[2]}, 0, {}, {}};
        for (openvdb::Index i = 0; i < std::size(sent.active); i++) {
            sent.active[i] = leaf->valueMask().template getWord<uint64_t>(i);
        }
        std::memcpy(sent.values, leaf->buffer().data(), sizeof sent.values);
        isolate_send(out, &sent, sizeof sent);
    }
}

// In the child: OpenVDB reads the bytes, all grids of them.
MoteResult read_file(void *context, IsolatePipe *out)
{
    const GridFile &file = *static_cast<const GridFile *>(context);
    return guarded(file.path, [&] {
        MemoryBuffer buffer(file.bytes, file.size);
        std::istream bytes(&buffer);
        bytes.exceptions(std::ios_base::eofbit | std::ios_base::failbit | std::ios_base::badbit); // OpenVDB reads on
        openvdb::io::Stream stream(bytes, false);
        openvdb::FloatGrid::Ptr grid;
        std::string found;
        for (const auto &base : *stream.getGrids()) {
            const bool level_set =
                base->isType<openvdb::FloatGrid>() && base->getGridClass() == openvdb::GRID_LEVEL_SET;
            if (file.grid_name == nullptr ? level_set : base->getName() == file.grid_name) {
                if (!level_set) {
                    return mote_fail(MOTE_ERROR_INPUT, "%s: grid \"%s\" is a %s of class \"%s\", expected a level set of "
                                     "floats", file.path, file.grid_name, base->valueType().c_str(),
                                     openvdb::GridBase::gridClassToString(base->getGridClass()).c_str());
                }
                grid = openvdb::gridPtrCast<openvdb::FloatGrid>(base);
                break;
            }
            found += (found.empty() ? "" : ", ") + base->getName();
        }
        if (grid == nullptr) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: has no level set of floats%s%s, found: %s", file.path,
                             file.grid_name != nullptr ? " named " : "", file.grid_name != nullptr ? file.grid_name : "",
                             found.empty() ? "no grid" : found.c_str());
        }
        const openvdb::Vec3d size = grid->voxelSize();
        const openvdb::Vec3d step = grid->indexToWorld(openvdb::Vec3d(1, 0, 0)) - grid->indexToWorld(openvdb::Vec3d(0, 0, 0));
        if (!grid->hasUniformVoxels() || std::fabs(step[0] - size[0]) > 1e-6 * size[0]) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: grid \"%s\" is stretched or turned, expected cubic voxels along the axes",
                             file.path, grid->getName().c_str());
        }
        send_grid(*grid, out);
        return MOTE_OK;
    });
}

MoteResult check_head(const char *path, const GridHead &head)
{
    const bool placed = std::fabs(head.origin[0]) <= PLACE_LIMIT && std::fabs(head.origin[1]) <= PLACE_LIMIT &&
                        std::fabs(head.origin[2]) <= PLACE_LIMIT;
    if (!placed || !(head.cell_size >= 1e-9 && head.cell_size <= PLACE_LIMIT)) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: its cells are %g m wide from (%g, %g, %g) m, expected numbers within %g",
                         path, head.cell_size, head.origin[0], head.origin[1], head.origin[2], PLACE_LIMIT);
    }
    if (!std::isfinite(head.background) || head.background <= 0.0f) {
        return mote_fail(MOTE_ERROR_INPUT, "%s: has a background of %g m, expected a positive distance", path,
                         static_cast<double>(head.background));
    }
    return MOTE_OK;
}

MoteResult check_place(const char *path, const int32_t *at, int32_t size)
{
    for (int k = 0; k < 3; k++) {
        if (at[k] < -INDEX_LIMIT || at[k] > INDEX_LIMIT || at[k] % size != 0) {
            return mote_fail(MOTE_ERROR_INPUT, "%s: has voxels at (%d, %d, %d), expected them within %d of the origin", path,
                             at[0], at[1], at[2], INDEX_LIMIT);
        }
    }
    return MOTE_OK;
}

MoteResult check_distance(const char *path, float value)
{
    return std::isfinite(value) ? MOTE_OK
                                : mote_fail(MOTE_ERROR_INPUT, "%s: holds a distance that is not finite", path);
}

// A few far leaves make a tree of many nodes: its size is looked at whenever the number of parts has doubled.
MoteResult check_memory(const GridFile &file, uint64_t parts)
{
    if ((parts & (parts - 1)) == 0 && file.grid->memUsage() > file.memory / 2) {
        return mote_fail(MOTE_ERROR_MEMORY, "%s: %s: it needs more than %llu MB of memory", file.path, PURPOSE,
                         static_cast<unsigned long long>(file.memory >> 20));
    }
    return MOTE_OK;
}

MoteResult receive_tile(const GridFile &file, IsolatePipe *in)
{
    GridTile tile;
    MoteResult result = isolate_receive(in, &tile, sizeof tile);
    if (result == MOTE_OK && (tile.level < 1 || tile.level > 3)) {
        result = mote_fail(MOTE_ERROR_INPUT, "%s: %s: its importer sent a tile of level %u", file.path, PURPOSE, tile.level);
    }
    result = result == MOTE_OK ? check_place(file.path, tile.at, 8) : result;
    result = result == MOTE_OK ? check_distance(file.path, tile.value) : result;
    if (result == MOTE_OK) {
        file.grid->tree().addTile(tile.level, openvdb::Coord(tile.at), tile.value, tile.active != 0);
    }
    return result;
}

MoteResult receive_leaf(const GridFile &file, IsolatePipe *in)
{
    GridLeaf sent;
    MoteResult result = isolate_receive(in, &sent, sizeof sent);
    result = result == MOTE_OK ? check_place(file.path, sent.at, 8) : result;
    for (size_t i = 0; i < std::size(sent.values) && result == MOTE_OK; i++) {
        result = check_distance(file.path, sent.values[i]);
    }
    if (result == MOTE_OK) {
        auto *leaf = file.grid->tree().touchLeaf(openvdb::Coord(sent.at));
        std::memcpy(leaf->buffer().data(), sent.values, sizeof sent.values);
        auto mask = leaf->valueMask();
        for (openvdb::Index i = 0; i < std::size(sent.active); i++) {
            mask.template getWord<uint64_t>(i) = sent.active[i];
        }
        leaf->setValueMask(mask);
    }
    return result;
}

// In the parent.
MoteResult take_file(void *context, IsolatePipe *in)
{
    GridFile &file = *static_cast<GridFile *>(context);
    GridHead head;
    MoteResult result = isolate_receive(in, &head, sizeof head);
    result = result == MOTE_OK ? check_head(file.path, head) : result;
    if (result != MOTE_OK) {
        return result;
    }
    return guarded(file.path, [&] {
        MoteResult each = MOTE_OK;
        file.grid = openvdb::FloatGrid::create(head.background);
        const auto transform = openvdb::math::Transform::createLinearTransform(head.cell_size);
        transform->postTranslate(openvdb::Vec3d(head.origin));
        file.grid->setTransform(transform);
        for (uint64_t i = 0; i < head.tiles && each == MOTE_OK; i++) {
            each = receive_tile(file, in);
            each = each == MOTE_OK ? check_memory(file, i + 1) : each;
        }
        for (uint64_t i = 0; i < head.leaves && each == MOTE_OK; i++) {
            each = receive_leaf(file, in);
            each = each == MOTE_OK ? check_memory(file, i + 1) : each;
        }
        return each;
    });
}

} // namespace

extern "C" MoteResult grids_from_file(const GridOptions *options, const char *path, const char *grid_name,
                                      FieldGrids *out)
{
    *out = {};
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        return mote_fail(MOTE_ERROR_IO, "%s: is no file that can be read, expected an OpenVDB file", path);
    }
    GridFile file = {path, grid_name, nullptr, 0, 0, nullptr};
    MoteResult result = file_read(path, FILE_LIMIT, &file.bytes, &file.size);
    if (result == MOTE_OK) {
        const IsolateLimits limits = isolate_limits_of(file.size);
        file.memory = limits.memory;
        result = guarded(path, [] { return MOTE_OK; }); // what OpenVDB does once is done before the child is made
        result = result == MOTE_OK ? isolate(path, PURPOSE, &limits, read_file, take_file, &file) : result;
    }
    std::free(file.bytes);
    if (result == MOTE_OK) {
        result = guarded(options->name, [&] { return finish(*file.grid, nullptr, *options, out); });
    }
    if (result != MOTE_OK) {
        grids_free(out);
    }
    return result;
}

extern "C" MoteResult grid_write(const char *path, const uint32_t *words, uint64_t word_count)
{
    return guarded(path, [&] {
        auto buffer = nanovdb::HostBuffer::create(word_count * 4);
        std::memcpy(buffer.data(), words, word_count * 4);
        const nanovdb::GridHandle<nanovdb::HostBuffer> handle(std::move(buffer));
        nanovdb::NanoToOpenVDB<float> convert; // nanoToOpenVDB would be compiled for every type of grid
        const openvdb::FloatGrid::Ptr grid = convert(*handle.grid<float>());
        grid->setName("surface");
        grid->setGridClass(openvdb::GRID_LEVEL_SET);
        openvdb::io::File file(path);
        file.write(openvdb::GridPtrVec{grid});
        file.close();
        return MOTE_OK;
    });
}

extern "C" uint32_t grid_voxel_bits(const GridBlob *blob, int32_t x, int32_t y, int32_t z)
{
    const auto *data = reinterpret_cast<const nanovdb::GridData *>(blob->words);
    const nanovdb::Coord at(x, y, z);
    uint32_t bits = 0;
    if (data->mGridType == nanovdb::GridType::Float) {
        const float value = reinterpret_cast<const nanovdb::FloatGrid *>(data)->getAccessor().getValue(at);
        std::memcpy(&bits, &value, 4);
    } else {
        const int32_t value = reinterpret_cast<const nanovdb::Int32Grid *>(data)->getAccessor().getValue(at);
        std::memcpy(&bits, &value, 4);
    }
    return bits;
}

extern "C" void grids_free(FieldGrids *grids)
{
    std::free(grids->distances.words);
    std::free(grids->closest.words);
    *grids = {};
}
